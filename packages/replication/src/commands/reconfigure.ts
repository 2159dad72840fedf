/** The command replSetReconfig. Server: processReplSetReconfig, _doReplSetReconfig. */
import { CommandError, ErrorCodes } from '@shardlab/bson'
import { writeConcernFault, type WriteConcern } from '../commit/write-concern-decision.js'
import { parseConfig } from '../config/document/parse-config.js'
import { configCommitment, reconfigFault } from '../config/reconfig.js'
import {
  configVersionText,
  isImplicitMajority,
  isVoter,
  type MemberConfig,
  type ReplicaSetConfig,
} from '../config/replica-set-config.js'
import { missingSelfFault, unelectableFault, type ConfigChecker } from '../config/validate.js'
import { laterOpTime, opTimeText, uninitializedTerm } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { customDefaultsFault } from './custom-defaults.js'

export interface ReconfigOptions {
  readonly force: boolean
  readonly isConfigServer: boolean
  /** In a cluster: the set is a shard that was added to one. */
  readonly sharding: 'none' | 'shard' | 'in-cluster'
  /** The default that is set for the cluster, or for the set if it is in none. Null: not set. */
  readonly defaultWriteConcern: Pick<WriteConcern, 'w'> | null
}

/**
 * Whether the command may wait for the current configuration to be committed, which a safe change
 * does first. @returns null: wait until `configCommitment` says `committed`
 */
export function reconfigWaitFault(state: ProtocolState): CommandError | null {
  if (!state.rules.safeReconfig || state.leaderMode === 'writable') return null
  return new CommandError(
    'NotWritablePrimary',
    'New config is rejected :: caused by :: replSetReconfig should only be run on a writable PRIMARY. ' +
      `Current state ${state.memberState};`,
  )
}

/**
 * The time of the command is over while it waits for a configuration to be committed.
 * @param when before the change, or after it is installed
 */
export function commitmentTimeout(state: ProtocolState, when: 'before' | 'after'): CommandError {
  const config = configVersionText(state.config!)
  const reason =
    configCommitment(state) === 'not-on-majority'
      ? `Current config with ${config} has not yet propagated to a majority of nodes`
      : `Last committed optime in the previous config (${previousOpTime(state)}) has not yet become committed in the current config with ${config}`
  const cause = `${reason} :: caused by :: operation exceeded time limit`
  return when === 'before'
    ? new CommandError('CurrentConfigNotCommittedYet', `New config is rejected :: caused by :: ${cause}`)
    : new CommandError(
        'MaxTimeMSExpired',
        `Reconfig finished but failed to propagate to a majority :: caused by :: ${cause}`,
      )
}

const previousOpTime = ({ committedInPreviousConfig, firstOpTimeOfTerm }: ProtocolState): string =>
  opTimeText(laterOpTime(committedInPreviousConfig, firstOpTimeOfTerm))

/** @returns the next configuration, for a check by other members and to be stored; or why not */
export function reconfigure(
  state: ProtocolState,
  document: Uint8Array,
  options: ReconfigOptions,
): ReplicaSetConfig | CommandError {
  const refused = stateFault(state, options.force)
  if (refused !== null) return refused
  const { rules } = state
  const current = state.config!
  let parsed
  try {
    parsed = parseConfig(document, rules)
  } catch (error) {
    if (error instanceof CommandError) return new CommandError('InvalidReplicaSetConfig', error.message)
    throw error
  }
  const checker = { rules, selfHost: state.selfHostIn(parsed.config), isConfigServer: options.isConfigServer }
  const fault = nameFault(parsed.config.name, state.setName, checker) ?? newlyAddedFault(parsed.config.members)
  if (fault !== null) return new CommandError('InvalidReplicaSetConfig', fault)
  const next = complete(state, parsed.config, options.force)
  const incompatible =
    (rules.implicitMajorityWriteConcern ? writeConcernChangeFault(current, next, options) : null) ??
    parsed.fault ??
    reconfigFault(current, next, options.force, checker)
  const defaults = customDefaultsFault('reconfig', next, rules)
  if (defaults !== null) return new CommandError(5_624_102, defaults)
  if (incompatible !== null) return new CommandError('NewReplicaSetConfigurationIncompatible', incompatible)
  return selfFault(next, checker, options.force) ?? next
}

function stateFault(state: ProtocolState, force: boolean): CommandError | null {
  const { config, storing, pendingConfig, rules, memberState } = state
  if (config === null) {
    return new CommandError('NotYetInitialized', 'Node not yet initialized; use the replSetInitiate command')
  }
  if (storing !== null || pendingConfig !== null) {
    return new CommandError(
      'ConfigurationInProgress',
      'Cannot run replSetReconfig because the node is currently updating its configuration',
    )
  }
  if (force) return null
  if (!rules.safeReconfig) {
    return state.isPrimary
      ? null
      : new CommandError(
          'NotWritablePrimary',
          `replSetReconfig should only be run on PRIMARY, but my state is ${memberState}; use the "force" argument to override`,
        )
  }
  if (state.pendingTerm !== null) {
    return new CommandError('NotWritablePrimary', 'Safe reconfig rejected due to detected pending stepdown')
  }
  if (state.leaderMode !== 'writable') {
    return new CommandError(
      'NotWritablePrimary',
      `Safe reconfig is only allowed on a writable PRIMARY. Current state is ${memberState}`,
    )
  }
  return commitmentFault(state)
}

function commitmentFault(state: ProtocolState): CommandError | null {
  const commitment = configCommitment(state)
  if (commitment === 'committed') return null
  return new CommandError(
    'CurrentConfigNotCommittedYet',
    commitment === 'not-on-majority'
      ? `Cannot run replSetReconfig because the current config: ${configVersionText(state.config!)} is not majority committed.`
      : `Last committed optime from previous config (${previousOpTime(state)}) is not committed in the current config.`,
  )
}

function nameFault(name: string, setName: string, { rules }: ConfigChecker): string | null {
  if (name === setName) return null
  return rules.replicationTexts === 'structured'
    ? `Rejecting reconfig where new config set name differs from command line set name, new config set name: ${name}, old config set name: ${setName}`
    : `Attempting to reconfigure a replica set with name ${name}, but command line reports ${setName}; rejecting`
}

const newlyAddedFault = (members: readonly MemberConfig[]): string | null =>
  members.some(({ newlyAdded }) => newlyAdded)
    ? 'Cannot provide newlyAdded field to member config during reconfig.'
    : null

/** What the server adds to the document of the command. */
function complete(state: ProtocolState, given: ReplicaSetConfig, force: boolean): ReplicaSetConfig {
  const { rules, term, random } = state
  const current = state.config!
  // Larger than that of any configuration that other members may have received.
  const jump = 10_000 + Math.floor(random() * 100_000)
  const base = rules.safeReconfig ? Math.max(current.version, given.version) : given.version
  const syncsFirst = (member: MemberConfig): boolean => {
    if (!rules.newVotersSyncFirst || force || member.arbiterOnly) return false
    const old = current.members.find(({ id }) => id === member.id)
    return old === undefined ? isVoter(member) : old.newlyAdded
  }
  return {
    ...given,
    version: force ? base + jump : given.version,
    term: rules.configTerm && !force ? term : uninitializedTerm,
    members: given.members.map((member) => (syncsFirst(member) ? { ...member, newlyAdded: true } : member)),
    settings: { ...given.settings, replicaSetId: given.settings.replicaSetId ?? current.settings.replicaSetId },
  }
}

function writeConcernChangeFault(
  current: ReplicaSetConfig,
  next: ReplicaSetConfig,
  { sharding, defaultWriteConcern }: ReconfigOptions,
): string | null {
  if (defaultWriteConcern !== null) {
    // Routers attach the default of a cluster, so shards need no mode for it.
    if (sharding !== 'none' || writeConcernFault(next, defaultWriteConcern)?.code !== unknownMode) return null
    return (
      'May not remove custom write concern definition from config while it is in use as the default write concern. ' +
      'Change the default write concern to a non-conflicting setting and try the reconfig again.'
    )
  }
  const isChanged = isImplicitMajority(current) !== isImplicitMajority(next)
  if (sharding === 'none' && isChanged) {
    return (
      'Reconfig attempted to install a config that would change the implicit default write concern. Use the ' +
      'setDefaultRWConcern command to set a cluster-wide write concern and try the reconfig again.'
    )
  }
  return sharding === 'in-cluster' && isChanged && !isImplicitMajority(next)
    ? 'Reconfig attempted to install a config that would change the implicit default write concern on the shard to ' +
        '{w: 1}. Use the setDefaultRWConcern command to set a cluster-wide write concern on the cluster and try the ' +
        'reconfig again.'
    : null
}

const unknownMode = ErrorCodes.UnknownReplWriteConcern

function selfFault(next: ReplicaSetConfig, checker: ConfigChecker, force: boolean): CommandError | null {
  // Until 4.2 these are faults of the new configuration.
  const codes = checker.rules.safeReconfig
    ? (['NodeNotFound', 'NodeNotElectable'] as const)
    : (['NewReplicaSetConfigurationIncompatible', 'NewReplicaSetConfigurationIncompatible'] as const)
  const missing = missingSelfFault(next, checker)
  if (missing !== null) return new CommandError(codes[0], missing)
  const unelectable = force ? null : unelectableFault(next, checker)
  return unelectable === null ? null : new CommandError(codes[1], unelectable)
}
