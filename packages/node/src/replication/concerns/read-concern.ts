/** Read concerns. Server: read_concern_mongod.cpp, waitForReadConcern. */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { nodeWithEngine } from '../../read/snapshots/snapshot-read.js'
import type { NodeHost, NodeInvocation } from '../../host/node-host.js'

/**
 * Waits until this member has what the client has seen.
 * @returns the node whose data the command reads; no promise if it waits for nothing
 */
export function hostForRead(invocation: NodeInvocation): Promise<NodeHost> | NodeHost {
  const { host, concerns } = invocation
  const { afterClusterTime, level } = concerns.read
  const { set } = host
  if (afterClusterTime !== null && !host.context.mutated('causalWaitOff')) {
    const isApplied = compareTimestamps(set.appliedTs, afterClusterTime) >= 0
    // Nothing else may advance the time of this set.
    if (!isApplied && set.isWritablePrimary) set.appendNoop('noop write for afterClusterTime read concern')
    else if (!isApplied) return hostAtTime(invocation, afterClusterTime)
    if (level === 'majority' && !set.isAlone) return majorityHostAtTime(invocation, afterClusterTime)
  }
  return level === 'majority' ? majorityHost(host) : host
}

async function hostAtTime(invocation: NodeInvocation, time: TimestampPair): Promise<NodeHost> {
  const { host, concerns, operation } = invocation
  if (!(await host.set.awaitApplied(time, operation.signal))) operation.checkForInterrupt()
  return concerns.read.level === 'majority' ? majorityHostAtTime(invocation, time) : host
}

async function majorityHostAtTime({ host, operation }: NodeInvocation, time: TimestampPair): Promise<NodeHost> {
  await host.set.awaitCommitted(time, operation.signal)
  return majorityHost(host)
}

const majorityHost = (host: NodeHost): NodeHost =>
  host.set.isAlone ? host : nodeWithEngine(host, host.set.majorityEngine())

/**
 * A linearizable read proves, after it, that this member was primary. Null: there is nothing to
 * prove. It resolves with null, as a satisfied write concern.
 */
export function confirmRead({ concerns, host, operation }: NodeInvocation): Promise<null> | null {
  if (concerns.read.level !== 'linearizable' || host.context.mutated('linearizableProofOff')) return null
  return host.set.confirmPrimary(operation.signal).then((error) => {
    if (error !== null) throw error
    return null
  })
}
