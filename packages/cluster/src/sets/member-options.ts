/** One member of a replica set, with the names and rules of `rs.conf().members`. */
export interface MemberOptions {
  /** 0 to 1000; 0: it is never elected. Default 1; of an arbiter 0. */
  readonly priority?: number
  /** Default 1. At most seven members of a set vote. */
  readonly votes?: 0 | 1
  /** Clients do not see it. Needs `priority: 0`. Default false. */
  readonly hidden?: boolean
  /** It applies what others wrote this much later, in seconds. Needs `priority: 0`. Default 0. */
  readonly secondaryDelaySecs?: number
  /** For read preferences and write concerns. Default: none. */
  readonly tags?: Readonly<Record<string, string>>
  /** It votes and has no data. Not in the set of the config server. Default false. */
  readonly arbiterOnly?: boolean
  /** false needs `priority: 0`. Not in the set of the config server. Default true. */
  readonly buildIndexes?: boolean
}

/**
 * The number of equal members, 1 to 7, or a list of 1 to 50 members. The set of a shard or config
 * server with the number 1 has the name of its member, and cannot grow.
 */
export type SetMembers = number | readonly MemberOptions[]

export const membersMax = 50
const votersMax = 7
const prioritiesMax = 1000
const delayMaxSecs = 31_622_400

export interface BrokenMemberRule {
  /** The place in the list; null: the rule is about all members. */
  readonly index: number | null
  readonly option: keyof MemberOptions | null
  /** `must be 0, because the member is hidden`. */
  readonly message: string
}

const is = {
  'must be true or false': (value: unknown) => typeof value === 'boolean',
  [`must be a number from 0 to ${prioritiesMax}`]: (value: unknown) =>
    typeof value === 'number' && value >= 0 && value <= prioritiesMax,
  'must be 0 or 1': (value: unknown) => value === 0 || value === 1,
  [`must be a whole number of seconds from 0 to ${delayMaxSecs}`]: (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= delayMaxSecs,
  "must be texts by name, such as { dc: 'east' }": (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([name, tag]) => name !== '' && typeof tag === 'string'),
} satisfies Record<string, (value: unknown) => boolean>

export const memberOptionTypes: Record<keyof MemberOptions, keyof typeof is> = {
  priority: `must be a number from 0 to ${prioritiesMax}`,
  votes: 'must be 0 or 1',
  hidden: 'must be true or false',
  secondaryDelaySecs: `must be a whole number of seconds from 0 to ${delayMaxSecs}`,
  tags: "must be texts by name, such as { dc: 'east' }",
  arbiterOnly: 'must be true or false',
  buildIndexes: 'must be true or false',
}

/** @returns null: the options have the right types */
export function wrongMemberOption(member: MemberOptions): Omit<BrokenMemberRule, 'index'> | null {
  for (const [name, message] of Object.entries(memberOptionTypes)) {
    const option = name as keyof MemberOptions
    if (member[option] !== undefined && is[message]?.(member[option]) !== true) return { option, message }
  }
  return null
}

/**
 * Server: member_config.cpp, repl_set_config.cpp (`validate`).
 * @returns null: the members can be a set
 */
export function brokenMemberRule(members: readonly MemberOptions[], isConfigServer: boolean): BrokenMemberRule | null {
  for (const [index, member] of members.entries()) {
    const broken = brokenRuleOf(member, isConfigServer)
    if (broken !== null) return { index, ...broken }
  }
  if (members.length === 0 || members.length > membersMax)
    return { index: null, option: null, message: `must have 1 to ${membersMax} members, not ${members.length}` }
  const voters = members.filter(({ votes }) => votes !== 0).length
  if (voters === 0 || voters > votersMax)
    return {
      index: null,
      option: null,
      message: `must have 1 to ${votersMax} members that vote, not ${voters}: give others { votes: 0, priority: 0 }`,
    }
  if (!members.some(isElectable))
    return { index: null, option: null, message: 'must have a member with data and a priority above 0' }
  return null
}

function brokenRuleOf(
  { priority, votes, hidden, secondaryDelaySecs: delay = 0, tags, arbiterOnly, buildIndexes }: MemberOptions,
  isConfigServer: boolean,
): Omit<BrokenMemberRule, 'index'> | null {
  const broken = (option: keyof MemberOptions, message: string) => ({ option, message })
  if (arbiterOnly === true) {
    if (isConfigServer) return broken('arbiterOnly', 'must be false: a config server has no arbiters')
    if (votes === 0) return broken('votes', 'must be 1: an arbiter votes')
    if (priority !== undefined && priority !== 0) return broken('priority', 'must be 0: an arbiter is never elected')
    if (tags !== undefined && Object.keys(tags).length > 0)
      return broken('tags', 'must be empty: an arbiter has no data')
  }
  if (isConfigServer && delay > 0) return broken('secondaryDelaySecs', 'must be 0 on a config server')
  if (isConfigServer && buildIndexes === false) return broken('buildIndexes', 'must be true on a config server')
  if (arbiterOnly === true || priority === 0) return null
  const reason =
    (votes === 0 && 'does not vote') ||
    (delay > 0 && 'is delayed') ||
    (hidden === true && 'is hidden') ||
    (buildIndexes === false && 'builds no indexes')
  return reason === false ? null : broken('priority', `must be 0, because the member ${reason}`)
}

export const isElectable = ({ arbiterOnly, priority }: MemberOptions): boolean =>
  arbiterOnly !== true && (priority ?? 1) > 0

/** The member that is primary at the start: the first one with the highest priority. */
export function firstPrimary(members: readonly MemberOptions[]): number {
  const priorityOf = (member: MemberOptions): number => (isElectable(member) ? (member.priority ?? 1) : 0)
  return members.reduce((best, member, i) => (priorityOf(member) > priorityOf(members[best]!) ? i : best), 0)
}

/** The member's fields in the document of the configuration, besides `_id` and `host`. */
export function memberFields(
  { secondaryDelaySecs, ...fields }: MemberOptions,
  delayName: 'slaveDelay' | 'secondaryDelaySecs',
): Record<string, unknown> {
  const given = Object.entries({ ...fields, [delayName]: secondaryDelaySecs })
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** Whether the member is in the connection string of its set. Server: replica_set_monitor.cpp. */
export const isInHosts = ({ hidden, secondaryDelaySecs = 0, arbiterOnly }: MemberOptions): boolean =>
  hidden !== true && secondaryDelaySecs === 0 && arbiterOnly !== true
