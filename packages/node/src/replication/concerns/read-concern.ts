/** Read concerns. Server: read_concern_mongod.cpp, waitForReadConcern. */
import { compareTimestamps, type CancelSignal, type TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { maxTimeExpired } from '@shardlab/member'
import type { StorageEngine } from '@shardlab/storage'
import { nodeAtTime, nodeOfMajority } from '../../read/snapshots/snapshot-read.js'
import { TimeLimitedSignal } from '../protocol/time-limited-signal.js'
import type { NodeHost, NodeInvocation } from '../../host/node-host.js'
import { awaitLogged, awaitPrepared } from '../../transactions/await-transactions.js'

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
  if (host.transactions.preparedCount > 0) {
    const undecided = awaitPrepared(invocation)
    if (undecided !== null) return undecided.then(() => prepareRead(invocation, host.set.appliedTs))
  }
  const { afterClusterTime, level } = concerns.read
  if (level === 'snapshot') return host.set.isAlone ? snapshotOfOne(invocation) : snapshotOfMajority(invocation)
  const { set } = host
  if (afterClusterTime !== null && !host.context.mutated('causalWaitOff')) {
    const waiting = catchUp(invocation, afterClusterTime) ?? (awaitsLogged(invocation) ? done : null)
    const isMajority = level === 'majority' && !set.isAlone
    if (waiting !== null || isMajority) return afterWait(invocation, outcomeTime ?? afterClusterTime, waiting)
  }
  return level === 'majority' ? ofMajority(invocation) : invocation
}

async function afterWait(
  invocation: NodeInvocation,
  time: TimestampPair,
  waiting: Promise<void> | null,
): Promise<NodeInvocation> {
  await waiting
  const hasWaited = await loggedOutcomes(invocation)
  if (invocation.concerns.read.level !== 'majority') return invocation
  await awaitCommitted(invocation, hasWaited ? invocation.host.set.appliedTs : time)
  return ofMajority(invocation)
}

const done = Promise.resolve()

/** Whether a secondary has to wait for transactions that are prepared. */
function awaitsLogged(invocation: NodeInvocation): boolean {
  return !invocation.host.set.isWritablePrimary && awaitLogged(invocation) !== null
}

/** @returns whether it has waited */
async function loggedOutcomes(invocation: NodeInvocation): Promise<boolean> {
  let hasWaited = false
  for (; awaitsLogged(invocation); hasWaited = true)
    await inTime(invocation, (signal) => untilAborted(invocation, awaitLogged(invocation)!, signal))
  return hasWaited
}

/** Resolves with the wait, or when the signal is aborted. */
function untilAborted({ host }: NodeInvocation, wait: Promise<void>, signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', end)
    host.set.context.detach(wait.then(end))
  })
}

function ofMajority(invocation: NodeInvocation): NodeInvocation {
  const { host } = invocation
  return host.set.isAlone ? invocation : { ...invocation, host: nodeOfMajority(host) }
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

/** @throws CommandError 50 MaxTimeMSExpired, or that of a kill */
async function inTime(
  { host, operation }: NodeInvocation,
  wait: (signal: CancelSignal) => Promise<unknown>,
): Promise<void> {
  const { timeLimit, signal } = operation
  const limited =
    timeLimit === null ? null : new TimeLimitedSignal(host.set.context, Math.max(0, timeLimit.leftMs), signal)
  try {
    await wait(limited?.signal ?? signal)
  } finally {
    limited?.end()
  }
  operation.checkForInterrupt()
  // A clock that a fault has set back stands still, so the check above misses the end of the time.
  if (limited?.signal.aborted === true) throw maxTimeExpired()
}

/** The clock of the only member has reached the time, so no later change can have it. */
function snapshotOfOne(invocation: NodeInvocation): NodeInvocation {
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
  await loggedOutcomes(invocation)
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
function openAt(invocation: NodeInvocation, time: TimestampPair): NodeInvocation {
  const { host, concerns } = invocation
  const past = nodeAtTime(host, snapshotAt(host, time), time)
  return { ...invocation, host: past, concerns: { ...concerns, read: { ...concerns.read, atClusterTime: time } } }
}

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
