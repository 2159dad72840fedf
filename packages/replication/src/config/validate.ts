/** Server: repl_set_config.cpp (`validate`), member_config.cpp, repl_set_config_checks.cpp. */
import { configVersionText, isElectable, type MemberConfig, type ReplicaSetConfig } from './replica-set-config.js'

const membersMax = 50
const votersMax = 7

/** @returns why the configuration is invalid on its own, in the server's words; null: valid */
export function configFault(config: ReplicaSetConfig): string | null {
  const { members } = config
  if (members.length === 0 || members.length > membersMax) {
    return (
      `Replica set configuration contains ${members.length} members, but must have at least 1 and no more than` +
      `  ${membersMax}`
    )
  }
  return repeatedMember(members) ?? mixedHosts(members) ?? missingRoles(members) ?? configServerFault(config)
}

function repeatedMember(members: readonly MemberConfig[]): string | null {
  for (const [i, member] of members.entries()) {
    for (const [j, other] of members.entries()) {
      if (i === j) continue
      if (member.id === other.id) {
        return (
          'Found two member configurations with same _id field, ' +
          `members.${i}._id == members.${j}._id == ${member.id}`
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

const localHosts = new Set(['localhost', '127.0.0.1', '[::1]'])

function mixedHosts(members: readonly MemberConfig[]): string | null {
  const local = members.filter(({ host }) => localHosts.has(host.slice(0, host.lastIndexOf(':')))).length
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

function configServerFault({ configServer, members, majorityJournals }: ReplicaSetConfig): string | null {
  if (!configServer) return null
  if (members.some(({ arbiterOnly }) => arbiterOnly)) {
    return 'Arbiters are not allowed in replica set configurations being used for config servers'
  }
  if (members.some(({ buildIndexes }) => !buildIndexes)) {
    return 'Members in replica set configurations being used for config servers must build indexes'
  }
  if (members.some(({ delaySecs }) => delaySecs > 0)) {
    return 'Members in replica set configurations being used for config servers cannot have a non-zero secondaryDelaySecs'
  }
  if (majorityJournals) return null
  return 'writeConcernMajorityJournalDefault must be true in replica set configurations being used for config servers'
}

/** @returns why this member could not be, in the server's words; null: valid */
export function memberFault(member: MemberConfig): string | null {
  if (member.arbiterOnly) {
    if (member.votes === 0) return 'Arbiter must vote (cannot have 0 votes)'
    if (member.newlyAdded) return 'Arbiter cannot have newlyAdded field set'
    if (member.tags.length > 0) return 'Cannot set tags on arbiters.'
  }
  if (member.priority === 0) return null
  if (member.votes === 0) return 'priority must be 0 when non-voting (votes:0)'
  if (member.delaySecs > 0) return 'priority must be 0 when secondaryDelaySecs is used'
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

/** @returns why this member cannot be primary under its new configuration; null: it can */
export function unelectableFault(config: ReplicaSetConfig, host: string): string | null {
  const self = config.members.find((member) => member.host === host)
  const version = configVersionText(config)
  if (self === undefined) {
    return `No host described in new configuration with ${version} for replica set ${config.name} maps to this node`
  }
  if (isElectable(self)) return null
  return (
    `This node, ${host}, with _id ${self.id} is not electable under the new configuration with ${version} for ` +
    `replica set ${config.name}`
  )
}
