/**
 * Before a configuration is stored, its members are asked by a heartbeat each. Server:
 * check_quorum_for_config_change.cpp.
 */
import { CommandError, sameBytes } from '@shardlab/bson'
import { isElectable, isVoter, majorityVoteCount, type ReplicaSetConfig } from '../config/replica-set-config.js'

/** What each member but this one answered. */
export interface QuorumReplies {
  readonly responded: readonly string[]
  readonly failed: readonly { readonly host: string; readonly reason: string }[]
}

/** What a member says of itself. */
export interface QuorumReply {
  /** False: it was started with another name of the set. */
  readonly isOfSet: boolean
  /** -2: it has no configuration. */
  readonly configVersion: number
  /** Null: it has none. */
  readonly replicaSetId: Uint8Array | null
  readonly hasData: boolean
}

/** @returns why this reply prevents the change at once; null: the member responded */
export function quorumVeto(config: ReplicaSetConfig, host: string, reply: QuorumReply): CommandError | null {
  const incompatible = (reason: string) => new CommandError('NewReplicaSetConfigurationIncompatible', reason)
  if (!reply.isOfSet) return incompatible(`Our set name did not match that of ${host}`)
  if (reply.configVersion >= config.version) {
    return incompatible(
      `Our config version of ${config.version} is no larger than the version on ${host}, which is ${reply.configVersion}`,
    )
  }
  const { replicaSetId } = config.settings
  if (replicaSetId !== null && reply.replicaSetId !== null && !sameBytes(replicaSetId, reply.replicaSetId)) {
    return incompatible(
      `Our replica set ID of ${hex(replicaSetId)} did not match that of ${host}, which is ${hex(reply.replicaSetId)}`,
    )
  }
  if (config.version === 1 && reply.hasData)
    return new CommandError('CannotInitializeNodeWithData', `'${host}' has data already, cannot initiate set.`)
  return null
}

const hex = (id: Uint8Array): string => Buffer.from(id).toString('hex')

/**
 * @param selfHost this member, which counts as one that responded
 * @returns why not; null: the configuration may be stored
 */
export function quorumFault(
  config: ReplicaSetConfig,
  selfHost: string,
  { responded, failed }: QuorumReplies,
): CommandError | null {
  const failures = failed.map(({ host, reason }) => `${host} failed with ${reason}`).join(', ')
  const notFound = (reason: string) => new CommandError('NodeNotFound', reason)
  if (config.version === 1) {
    return failed.length === 0
      ? null
      : notFound(
          `replSetInitiate quorum check failed because not all proposed set members responded affirmatively: ${failures}`,
        )
  }
  const present = config.members.filter(({ host }) => host === selfHost || responded.includes(host))
  if (!present.some(isElectable)) {
    return notFound('Quorum check failed because no electable nodes responded; at least one required for config')
  }
  const voters = present.filter(isVoter).map(({ host }) => host)
  const needed = majorityVoteCount(config)
  if (voters.length >= needed) return null
  const found =
    voters.length === 0
      ? 'none responded'
      : `only the following ${voters.length} voting nodes responded: ${voters.join(', ')}`
  const rest = failed.length === 0 ? '' : `; the following nodes did not respond affirmatively: ${failures}`
  return notFound(
    `Quorum check failed because not enough voting nodes responded; required ${needed} but ${found}${rest}`,
  )
}
