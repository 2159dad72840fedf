/** Server: repl_set_config.cpp (`validate`), member_config.cpp, repl_set_config_checks.cpp. */
import type { ReplicationRules } from '../rules.js'
import { horizonFault } from './horizons.js'
import { isLocalHost } from './host-and-port.js'
import { configVersionText, isElectable, type MemberConfig, type ReplicaSetConfig } from './replica-set-config.js'

/** The member that checks a configuration. */
export interface ConfigChecker {
  readonly rules: ReplicationRules
  /** `host:port`, as in the configuration. */
  readonly selfHost: string
  /** Started with --configsvr. */
  readonly isConfigServer: boolean
}

const membersMax = 50
const votersMax = 7

/** @returns why the configuration is invalid on its own, in the server's words; null: valid */
export function configFault(config: ReplicaSetConfig, checker: ConfigChecker): string | null {
  const { members } = config
  if (members.length === 0 || members.length > membersMax) {
    return (
      `Replica set configuration contains ${members.length} members, but must have at least 1 and no more than` +
      `  ${membersMax}`
    )
  }
  return (
    repeatedMember(members, checker) ??
    horizonFault(members) ??
    mixedHosts(members) ??
    missingRoles(members) ??
    configServerFault(config, checker)
  )
}

function repeatedMember(members: readonly MemberConfig[], checker: ConfigChecker): string | null {
  for (const [i, member] of members.entries()) {
    for (const [j, other] of members.entries()) {
      if (i === j) continue
      if (member.id === other.id) {
        return (
          'Found two member configurations with same _id field, ' +
          `members.${i}._id == members.${j}._id == ${memberIdText(member.id, checker)}`
        )
      }
      if (member.host === other.host) {
        return (
          'Found two member configurations with same host field, ' +
          `members.${i}.host == members.${j}.host == ${member.host}`
        )
      }
    }
  }
  return null
}

function mixedHosts(members: readonly MemberConfig[]): string | null {
  const local = members.filter(({ host }) => isLocalHost(host)).length
  if (local === 0 || local === members.length) return null
  return (
    'Either all host names in a replica set configuration must be localhost references, or none must be; ' +
    `found ${local} out of ${members.length}`
  )
}

function missingRoles(members: readonly MemberConfig[]): string | null {
  const voters = members.filter(({ votes }) => votes > 0).length
  if (voters === 0 || voters > votersMax) {
    return (
      `Replica set configuration contains ${voters} voting members, but must be at least 1 and no more than ` +
      `${votersMax}`
    )
  }
  if (!members.some(({ arbiterOnly, priority }) => !arbiterOnly && priority > 0)) {
    return 'Replica set configuration must contain at least one non-arbiter member with priority > 0'
  }
  return null
}

function configServerFault(
  { configServer, members, majorityJournals }: ReplicaSetConfig,
  { isConfigServer, rules }: ConfigChecker,
): string | null {
  if (!configServer) {
    return isConfigServer ? 'Nodes started with the --configsvr flag must have configsvr:true in their config' : null
  }
  if (members.some(({ arbiterOnly }) => arbiterOnly)) {
    return 'Arbiters are not allowed in replica set configurations being used for config servers'
  }
  if (members.some(({ buildIndexes }) => !buildIndexes)) {
    return 'Members in replica set configurations being used for config servers must build indexes'
  }
  if (members.some(({ delaySecs }) => delaySecs > 0)) {
    const name = rules.configIsStructure ? 'secondaryDelaySecs' : 'slaveDelay'
    return `Members in replica set configurations being used for config servers cannot have a non-zero ${name}`
  }
  if (!isConfigServer) return 'Nodes being used for config servers must be started with the --configsvr flag'
  if (majorityJournals) return null
  return 'writeConcernMajorityJournalDefault must be true in replica set configurations being used for config servers'
}

/** @returns why this member could not be, in the server's words; null: valid */
export function memberFault(member: MemberConfig, delayName: string): string | null {
  if (member.arbiterOnly) {
    if (member.votes === 0) return 'Arbiter must vote (cannot have 0 votes)'
    if (member.newlyAdded) return 'Arbiter cannot have newlyAdded field set'
    if (member.tags.length > 0) return 'Cannot set tags on arbiters.'
  }
  if (member.priority === 0) return null
  if (member.votes === 0) return 'priority must be 0 when non-voting (votes:0)'
  if (member.delaySecs > 0) return `priority must be 0 when ${delayName} is used`
  if (member.hidden) return 'priority must be 0 when hidden=true'
  return member.buildIndexes ? null : 'priority must be 0 when buildIndexes=false'
}

/** An arbiter's default priority becomes 0 when it is parsed; others are refused. */
export function arbiterPriorityFault({ members }: ReplicaSetConfig): string | null {
  const arbiter = members.find(({ arbiterOnly, priority }) => arbiterOnly && priority !== 0)
  return arbiter === undefined
    ? null
    : `Member ${arbiter.host} is an arbiter but has priority ${arbiter.priority}. Arbiter priority must be 0.`
}

/** `with {version: 2, term: 1}`; until 4.2 the number alone. */
const newConfigText = (config: ReplicaSetConfig, { rules }: ConfigChecker, before: string): string =>
  rules.configTerm ? `with ${configVersionText(config)}` : `${before}${config.version}`

/** @returns why this member is not in the configuration; null: it is */
export function missingSelfFault(config: ReplicaSetConfig, checker: ConfigChecker): string | null {
  if (config.members.some(({ host }) => host === checker.selfHost)) return null
  return `No host described in new configuration ${newConfigText(config, checker, '')} for replica set ${config.name} maps to this node`
}

/** @returns why this member cannot be primary under its new configuration; null: it can */
export function unelectableFault(config: ReplicaSetConfig, checker: ConfigChecker): string | null {
  const self = config.members.find(({ host }) => host === checker.selfHost)
  if (self === undefined || isElectable(self)) return null
  return (
    `This node, ${self.host}, with _id ${memberIdText(self.id, checker)} is not electable under the new configuration ` +
    `${newConfigText(config, checker, 'version ')} for replica set ${config.name}`
  )
}

/** As a MemberId prints itself since it is a class of its own. */
export const memberIdText = (id: number, { rules }: Pick<ConfigChecker, 'rules'>): string =>
  rules.configTerm ? `MemberId(${id})` : `${id}`
