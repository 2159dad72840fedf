import { configAddress, isReservedAddress } from '@shardlab/actor'
import { suggestion } from '@shardlab/quantities'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { OptionError } from '../option-error.js'
import type { TopologyName } from '../topology-name.js'
import {
  brokenMemberRule,
  memberOptionTypes,
  wrongMemberOption,
  type MemberOptions,
  type SetMembers,
} from './member-options.js'

/** null: one member, which has the name of the set and no protocol. */
export type ResolvedMembers = readonly MemberOptions[] | null

export interface ResolvedSets {
  /** Of sets that {@link sets} does not name. */
  readonly members: ResolvedMembers
  /** By name. */
  readonly sets: Readonly<Record<string, ResolvedMembers>>
}

export function membersOf({ members, sets }: ResolvedSets, set: string): ResolvedMembers {
  return Object.hasOwn(sets, set) ? sets[set]! : members
}

/** Whether a set of the cluster has a protocol. */
export function hasSets({ members, sets }: ResolvedSets): boolean {
  return members !== null || Object.values(sets).some((each) => each !== null)
}

/** @throws OptionError */
export function resolveSets(
  { members, sets = {} }: { readonly members?: SetMembers; readonly sets?: Readonly<Record<string, SetMembers>> },
  { shards, standby, emulate }: { shards: readonly string[]; standby: readonly string[]; emulate: EmulatedVersion },
): ResolvedSets {
  const names = [configAddress, ...shards, ...standby]
  if (typeof sets !== 'object' || sets === null || Array.isArray(sets))
    throw new OptionError('sets must be members by the name of their set, such as { config: 3, shard01: 3 }.')
  for (const name of Object.keys(sets))
    if (!names.includes(name))
      throw new OptionError(
        `sets has ${name}, which is no set of this cluster; ${suggestion(name, names) ?? `its sets are ${names.join(', ')}.`}`,
      )
  const resolved: ResolvedSets = {
    members: resolveMembers('members', members ?? 1, false),
    sets: Object.fromEntries(
      Object.entries(sets).map(([name, own]) => [name, resolveMembers(`sets.${name}`, own, name === configAddress)]),
    ),
  }
  const ofConfig = membersOf(resolved, configAddress)
  if (ofConfig !== null) checkRules(Object.hasOwn(sets, configAddress) ? 'sets.config' : 'members', ofConfig, true)
  for (const shard of shards) checkDefaultWriteConcern(resolved, shard, emulate)
  return resolved
}

/**
 * For a shard that joins a running cluster.
 * @throws OptionError
 */
export function membersOfNewShard(
  { members }: { readonly members?: SetMembers },
  options: ResolvedSets & { readonly topology: TopologyName },
): ResolvedMembers {
  if (options.topology !== 'sharded')
    throw new OptionError(
      `cannot add a shard: this is a ${options.topology === 'standalone' ? 'standalone mongod' : 'replica set without sharding'}.`,
    )
  if (members === undefined) return options.members
  const resolved = resolveMembers('members', members, false)
  if (resolved !== null && !hasSets(options))
    throw new OptionError('cannot add a shard with members to a cluster without: start the cluster with members.')
  return resolved
}

/** @throws OptionError */
export function resolveMembers(name: string, given: SetMembers, isConfigServer: boolean): ResolvedMembers {
  if (given === 1) return null
  const members = membersOfSet(name, given)
  checkRules(name, members, isConfigServer)
  return members
}

/** @throws OptionError the value is neither a number nor a list of members */
export function membersOfSet(name: string, given: SetMembers): readonly MemberOptions[] {
  if (!Array.isArray(given)) {
    if (!Number.isInteger(given) || (given as number) < 1 || (given as number) > 7)
      throw new OptionError(
        `${name} is ${JSON.stringify(given)}; it must be a whole number from 1 to 7, or a list of members such as [{ priority: 2 }, {}, {}] in the API or in a topology file.`,
      )
    return Array.from({ length: given as number }, () => ({}))
  }
  for (const [i, member] of (given as readonly MemberOptions[]).entries()) checkMember(`${name}[${i}]`, member)
  return given as readonly MemberOptions[]
}

function checkMember(name: string, member: MemberOptions): void {
  if (typeof member !== 'object' || member === null || Array.isArray(member))
    throw new OptionError(`${name} is ${JSON.stringify(member)}; it must be options such as { priority: 2 }.`)
  const known = Object.keys(memberOptionTypes)
  for (const option of Object.keys(member))
    if (!known.includes(option))
      throw new OptionError(
        `${name} has ${option}, which is no option of a member; ${suggestion(option, known) ?? `the options are ${known.join(', ')}.`}`,
      )
  const wrong = wrongMemberOption(member)
  if (wrong !== null)
    throw new OptionError(`${name}.${wrong.option} is ${JSON.stringify(member[wrong.option!])}; it ${wrong.message}.`)
}

export function checkRules(name: string, members: readonly MemberOptions[], isConfigServer: boolean): void {
  const broken = brokenMemberRule(members, isConfigServer)
  if (broken === null) return
  const { index, option, message } = broken
  throw new OptionError(
    `${name}${index === null ? '' : `[${index}]`}${option === null ? '' : `.${option}`} ${message}.`,
  )
}

/** As `addShard` of the server. */
function checkDefaultWriteConcern(resolved: ResolvedSets, shard: string, emulate: EmulatedVersion): void {
  const members = membersOf(resolved, shard) ?? [{}]
  if (!behavioursOf(emulate).implicitMajorityWriteConcern || isImplicitMajority(members)) return
  throw new OptionError(
    `${shard} has so many arbiters that its default write concern is { w: 1 }, and ${emulate} adds no such shard: start it with standby, set a default by setDefaultRWConcern, and add it by addShard.`,
  )
}

/** Since 5.0: whether writes without a write concern are majority writes. */
function isImplicitMajority(members: readonly MemberOptions[]): boolean {
  const voters = members.filter(({ votes }) => votes !== 0)
  const writable = voters.filter(({ arbiterOnly }) => arbiterOnly !== true)
  return writable.length === voters.length || writable.length > Math.floor(voters.length / 2) + 1
}

const setNamePattern = /^[A-Za-z][\w.-]{0,62}$/

export const isSetName = (name: unknown): name is string => typeof name === 'string' && setNamePattern.test(name)

/** @throws OptionError */
export function resolveSetName(name: string): string {
  if (!isSetName(name) || isReservedAddress(name))
    throw new OptionError(
      `setName is ${JSON.stringify(name)}, which cannot be the name of a replica set: use a letter, followed by letters, digits, -, _ and dots, such as rs0.`,
    )
  return name
}
