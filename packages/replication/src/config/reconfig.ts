/**
 * When one configuration may follow another. Server: repl_set_config_checks.cpp,
 * ReplicationCoordinatorImpl::doReplSetReconfig.
 */
import { haveMajorityReached } from '../commit/write-concern.js'
import { isNullOpTime, laterOpTime, uninitializedTerm } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import {
  baseQuorums,
  compareConfigVersions,
  configVersionText,
  isPsa,
  isVoter,
  majorityVoteCount,
  type MemberConfig,
  type ReplicaSetConfig,
} from './replica-set-config.js'
import type { ReplicationRules } from '../rules.js'
import { arbiterPriorityFault, configFault, memberIdText, type ConfigChecker } from './validate.js'

/** @returns why `next` may not follow `current`, in the server's words; null: it may */
export function reconfigFault(
  current: ReplicaSetConfig,
  next: ReplicaSetConfig,
  force: boolean,
  checker: ConfigChecker,
): string | null {
  return (
    configFault(next, checker) ??
    successorFault(current, next, force, checker) ??
    (force || !checker.rules.safeReconfig ? null : voterChangeFault(current, next)) ??
    arbiterPriorityFault(next)
  )
}

function successorFault(
  current: ReplicaSetConfig,
  next: ReplicaSetConfig,
  force: boolean,
  checker: ConfigChecker,
): string | null {
  const { rules } = checker
  const differ = 'New and old configurations differ in replica set '
  return (
    versionFault(current, next, force, rules) ??
    (current.name === next.name ? null : `${differ}name; old was ${current.name}, and new is ${next.name}`) ??
    (idOf(current) === idOf(next) ? null : `${differ}ID; old was ${idOf(current)}, and new is ${idOf(next)}`) ??
    (current.configServer && !next.configServer
      ? 'Cannot remove "configsvr" from replica set configuration on reconfig'
      : null) ??
    changedMember(current, next, checker) ??
    (rules.psaReconfigIsChecked ? psaFault(current, next) : null)
  )
}

const idOf = ({ settings: { replicaSetId } }: ReplicaSetConfig): string =>
  Buffer.from(replicaSetId ?? new Uint8Array(12)).toString('hex')

function versionFault(
  current: ReplicaSetConfig,
  next: ReplicaSetConfig,
  force: boolean,
  { configTerm }: ReplicationRules,
): string | null {
  if (configTerm) {
    if (compareConfigVersions(current, next) < 0) return null
    return (
      'New replica set configuration version and term must be greater than old, but ' +
      `${configVersionText(next)} is not greater than ${configVersionText(current)} for replica set ${next.name}`
    )
  }
  // A forced configuration gets a version of its own.
  if (force || next.version > current.version) return null
  return (
    `New replica set configuration version must be greater than old, but ${next.version} is not greater than ` +
    `${current.version} for replica set ${next.name}`
  )
}

function changedMember(current: ReplicaSetConfig, next: ReplicaSetConfig, checker: ConfigChecker): string | null {
  for (const member of next.members) {
    for (const old of current.members) {
      const fault = memberSuccessorFault(old, member, next.name, checker)
      if (fault !== null) return fault
    }
  }
  return null
}

function memberSuccessorFault(
  old: MemberConfig,
  member: MemberConfig,
  setName: string,
  checker: ConfigChecker,
): string | null {
  const [newId, oldId] = [memberIdText(member.id, checker), memberIdText(old.id, checker)]
  if (old.id !== member.id && old.host === member.host) {
    return (
      `New and old configurations both have members with host of ${old.host} but in the new configuration the _id ` +
      `field is ${newId} and in the old configuration it is ${oldId} for replica set ${setName}`
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

/**
 * With one writable voter, a majority of votes need not contain a member with the newest majority
 * write, so a new secondary must not win an election at once.
 */
function psaFault(current: ReplicaSetConfig, next: ReplicaSetConfig): string | null {
  const { writable, majority } = baseQuorums(current)
  const electable = next.members.filter(({ priority }) => priority > 0).length
  if (majority <= writable || !isPsa(next) || electable <= 1) return null
  return (
    'Rejecting reconfig where the new config has a PSA topology and the secondary is electable, but the old config ' +
    'contains only one writable node. Refer to https://docs.mongodb.com/manual/reference/method/' +
    'rs.reconfigForPSASet/ for next steps on reconfiguring a PSA set.'
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
  // A forced configuration was installed without regard to writes.
  if (config!.term === uninitializedTerm) return 'committed'
  const target = laterOpTime(state.committedInPreviousConfig, state.firstOpTimeOfTerm)
  return isNullOpTime(target) || haveMajorityReached(state, target) ? 'committed' : 'writes-not-on-majority'
}
