/** Reads of a set of several members. Server: read_concern_mongod.cpp, waitForReadConcern. */
import type { ReadConcern } from '@shardlab/member'
import { nodeWithEngine } from '../../read/snapshots/snapshot-read.js'
import type { NodeHost, NodeInvocation } from '../../host/node-host.js'
import type { ReplicaSet } from '../replica-set.js'

/**
 * Waits until this member has what the client has seen.
 * @returns the node whose data the command reads
 */
export async function hostForRead(invocation: NodeInvocation, set: ReplicaSet): Promise<NodeHost> {
  const { host, concerns, operation } = invocation
  const { afterClusterTime, level } = concerns.read
  const waits = afterClusterTime !== null && !host.context.mutated('causalWaitOff')
  if (waits && !(await set.awaitApplied(afterClusterTime, operation.signal))) operation.checkForInterrupt()
  if (level !== 'majority') return host
  if (waits) await set.awaitCommitted(afterClusterTime, operation.signal)
  return nodeWithEngine(host, set.majorityEngine())
}

/** A linearizable read proves, after it, that this member was primary. */
export async function confirmRead(
  { level }: ReadConcern,
  { host, operation }: NodeInvocation,
  set: ReplicaSet,
): Promise<void> {
  if (level !== 'linearizable' || host.context.mutated('linearizableProofOff')) return
  const error = await set.awaitMajorityOfNoop(operation.signal)
  if (error !== null) throw error
}
