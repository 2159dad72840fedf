/**
 * When one configuration may follow another. Server: repl_set_config_checks.cpp,
 * ReplicationCoordinatorImpl::doReplSetReconfig.
 */
import { haveMajorityReached } from '../commit/write-concern.js'
import { isNullOpTime, laterOpTime } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import {
  compareConfigVersions,
  configVersionText,
  isVoter,
  majorityVoteCount,
  type MemberConfig,
  type ReplicaSetConfig,
} from './replica-set-config.js'
import { arbiterPriorityFault, configFault } from './validate.js'

/** @returns why `next` may not follow `current`, in the server's words; null: it may */
export function reconfigFault(current: ReplicaSetConfig, next: ReplicaSetConfig, force: boolean): string | null {
  return (
    configFault(next) ??
    successorFault(current, next) ??
    (force ? null : voterChangeFault(current, next)) ??
    arbiterPriorityFault(next)
  )
}

function successorFault(current: ReplicaSetConfig, next: ReplicaSetConfig): string | null {
  if (compareConfigVersions(current, next) >= 0) {
    return (
      'New replica set configuration version and term must be greater than old, but ' +
      `${configVersionText(next)} is not greater than ${configVersionText(current)} for replica set ${next.name}`
    )
  }
  if (current.name !== next.name) {
    return (
      'New and old configurations differ in replica set name; ' + `old was ${current.name}, and new is ${next.name}`
    )
  }
  if (current.configServer && !next.configServer) {
    return 'Cannot remove "configsvr" from replica set configuration on reconfig'
  }
  for (const member of next.members) {
    for (const old of current.members) {
      const fault = memberSuccessorFault(old, member, next.name)
      if (fault !== null) return fault
    }
  }
  return null
}

function memberSuccessorFault(old: MemberConfig, member: MemberConfig, setName: string): string | null {
  if (old.id !== member.id && old.host === member.host) {
    return (
      `New and old configurations both have members with host of ${old.host} but in the new configuration the _id ` +
      `field is ${member.id} and in the old configuration it is ${old.id} for replica set ${setName}`
    )
  }
  if (old.id !== member.id) return null
  const changed =
    old.buildIndexes === member.buildIndexes
      ? old.arbiterOnly === member.arbiterOnly
        ? null
        : 'arbiterOnly'
      : 'buildIndexes'
  if (changed === null) return null
  return (
    `New and old configurations differ in the setting of the ${changed} field for member ${old.host}; to make this ` +
    'change, remove then re-add the member'
  )
}

/** A majority of either configuration must contain a member of every majority of the other one. */
function voterChangeFault(current: ReplicaSetConfig, next: ReplicaSetConfig): string | null {
  const voters = (config: ReplicaSetConfig) => config.members.filter(isVoter).map(({ id }) => id)
  const [old, others] = [voters(current), voters(next)]
  const changed = old.filter((id) => !others.includes(id)).length + others.filter((id) => !old.includes(id)).length
  return changed > 1 ? 'Non force replica set reconfig can only add or remove at most 1 voting member.' : null
}

export type ConfigCommitment = 'committed' | 'not-on-majority' | 'writes-not-on-majority'

/**
 * Whether the current configuration is safe to leave: a majority of its voters has it, and also
 * every write that was committed under the one before.
 */
export function configCommitment(state: ProtocolState): ConfigCommitment {
  const { config, members, self } = state
  const having = members.filter(
    (view, index) =>
      isVoter(config!.members[index]!) && (view === self || compareConfigVersions(view.config, config!) === 0),
  ).length
  if (having < majorityVoteCount(config!)) return 'not-on-majority'
  const target = laterOpTime(state.committedInPreviousConfig, state.firstOpTimeOfTerm)
  return isNullOpTime(target) || haveMajorityReached(state, target) ? 'committed' : 'writes-not-on-majority'
}
