/** Read concerns. Server: read_concern_mongod.cpp, waitForReadConcern. */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { isChangeStream } from '@shardlab/member'
import type { StorageEngine } from '@shardlab/storage'
import { liveNode } from '../../read/snapshots/live-node.js'
import { nodeAtTime, nodeOfMajority } from '../../read/snapshots/snapshot-read.js'
import type { NodeHost, NodeInvocation } from '../../host/node-host.js'
import type { LoggedTransaction } from '../../transactions/log/logged-transactions.js'
import {
  awaitOutcome,
  inTime,
  mayRunAgain,
  readBy,
  stoppingAt,
  undecidedIn,
} from '../../transactions/undecided-reads.js'

/**
 * Waits until this member has what the client has seen.
 * @param outcomeTime the read has waited for a prepared transaction, and this was the time of the
 *   newest entry when the wait was over; null: it has not waited
 * @returns the command with the node whose data it reads; no promise if it waits for nothing
 */
export function prepareRead(
  invocation: NodeInvocation,
  outcomeTime: TimestampPair | null = null,
): Promise<NodeInvocation> | NodeInvocation {
  const { host, concerns } = invocation
  const { afterClusterTime, level } = concerns.read
  const { set } = host
  if (level === 'snapshot') return set.isAloneAndWritten ? snapshotOfOne(invocation) : snapshotOfMajority(invocation)
  if (afterClusterTime !== null && !host.context.mutated('causalWaitOff')) {
    const waiting = catchUp(invocation, afterClusterTime)
    const isMajority = level === 'majority' && !set.isAloneAndWritten
    if (waiting !== null || isMajority) return afterWait(invocation, outcomeTime ?? afterClusterTime, waiting)
  }
  return decided(level === 'majority' ? ofMajority(invocation) : invocation)
}

async function afterWait(
  invocation: NodeInvocation,
  time: TimestampPair,
  waiting: Promise<void> | null,
): Promise<NodeInvocation> {
  await waiting
  if (invocation.concerns.read.level !== 'majority') return decided(invocation)
  await awaitCommitted(invocation, time)
  return decided(ofMajority(invocation))
}

/** Called in the turn in which the data is opened. */
function decided(opened: NodeInvocation): Promise<NodeInvocation> | NodeInvocation {
  const undecided = undecidedIn(opened)
  if (undecided === null || readsLog(opened)) return opened
  if (mayRunAgain(opened)) return stoppingAt(opened, undecided)
  const read = undecidedIn(opened, readBy(opened))
  return read === null ? opened : afterOutcome(opened, read)
}

/** The log has changes of transactions when they have committed. */
function readsLog({ args, operation }: NodeInvocation): boolean {
  return operation.command === 'aggregate' && isChangeStream(args.pipeline() ?? [])
}

/** Prepares a read again when one of the transactions has ended. */
export async function afterOutcome(
  read: NodeInvocation,
  transactions: readonly LoggedTransaction[],
): Promise<NodeInvocation> {
  const host = liveNode(read.host)
  const again = { ...read, host, stayOpen: undefined }
  await awaitOutcome(again, transactions)
  return prepareRead(again, host.set.appliedTs)
}

function ofMajority(invocation: NodeInvocation): NodeInvocation {
  const { host } = invocation
  return host.set.isAloneAndWritten ? invocation : { ...invocation, host: nodeOfMajority(host) }
}

/** Waits until an entry of that time is applied. Null: there is one. */
function catchUp(invocation: NodeInvocation, time: TimestampPair): Promise<void> | null {
  const { host } = invocation
  const { set } = host
  if (compareTimestamps(set.appliedTs, time) >= 0) return null
  if (!set.isWritablePrimary) {
    const patienceMs = host.parameters.number('waitForSecondaryBeforeNoopWriteMS')
    return inTime(invocation, (signal) => set.awaitApplied(time, signal, patienceMs))
  }
  // Nothing else may advance the time of this set.
  set.appendNoop('noop write for afterClusterTime read concern')
  return null
}

function awaitCommitted(invocation: NodeInvocation, time: TimestampPair): Promise<void> {
  return inTime(invocation, (signal) => invocation.host.set.awaitCommitted(time, signal))
}

/** The clock of the only member has reached the time, so no later change can have it. */
function snapshotOfOne(invocation: NodeInvocation): Promise<NodeInvocation> | NodeInvocation {
  const { host, concerns } = invocation
  const { afterClusterTime, atClusterTime } = concerns.read
  const { appliedTs } = host.set
  const isBehind = afterClusterTime !== null && compareTimestamps(appliedTs, afterClusterTime) < 0
  return openAt(invocation, atClusterTime ?? (isBehind ? afterClusterTime : appliedTs))
}

async function snapshotOfMajority(invocation: NodeInvocation): Promise<NodeInvocation> {
  const { host, concerns } = invocation
  const { afterClusterTime, atClusterTime } = concerns.read
  const { set } = host
  const time = atClusterTime ?? afterClusterTime
  if (time !== null) {
    await catchUp(invocation, time)
    await awaitCommitted(invocation, time)
  }
  const committed = set.committedTs
  if (committed[0] === 0) throw new CommandError('SnapshotUnavailable', 'No committed OpTime for snapshot read')
  return openAt(invocation, atClusterTime ?? committed)
}

/**
 * The data at a cluster time, which must not be changed.
 * @throws CommandError 239 SnapshotTooOld
 */
export function snapshotAt({ snapshots, transactions }: NodeHost, time: TimestampPair): StorageEngine {
  return transactions.log.logged.recent.completed(snapshots.open(time), time)
}

/** @throws CommandError 239 SnapshotTooOld */
function openAt(invocation: NodeInvocation, time: TimestampPair): Promise<NodeInvocation> | NodeInvocation {
  const { host, concerns } = invocation
  const past = nodeAtTime(host, snapshotAt(host, time), time)
  return decided({
    ...invocation,
    host: past,
    concerns: { ...concerns, read: { ...concerns.read, atClusterTime: time } },
  })
}

/**
 * A linearizable read proves, after it, that this member was primary. Null: there is nothing to
 * prove. It resolves with null, as a satisfied write concern.
 * @throws CommandError 10107 NotWritablePrimary
 */
export function confirmRead(invocation: NodeInvocation): Promise<null> | null {
  const { concerns, host } = invocation
  if (concerns.read.level !== 'linearizable' || host.context.mutated('linearizableProofOff')) return null
  if (!host.set.isWritablePrimary)
    throw new CommandError('NotWritablePrimary', 'cannot satisfy linearizable read concern on non-primary node')
  return confirm(invocation)
}

/** @throws CommandError why this member may not be primary; 50, or that of a kill */
async function confirm(invocation: NodeInvocation): Promise<null> {
  await inTime(invocation, async (signal) => {
    const error = await invocation.host.set.confirmPrimary('linearizable read', signal)
    if (error !== null) throw error
  })
  return null
}
