/**
 * A read at or after a time needs the outcome of prepared transactions. It stops at a key or a
 * document that one of them changes, waits until the transaction has ended, and runs again from its
 * start. Other reads see the data from before the transaction. Server: prepare_conflict_tracker,
 * PrepareConflictBehavior.
 */
import { compareTimestamps, type CancelSignal } from '@shardlab/actor'
import { CommandError, firstFieldName } from '@shardlab/bson'
import { maxTimeExpired, writingStage } from '@shardlab/member'
import { mergeCursorsStage } from '@shardlab/query'
import { UndecidedCollection, type Collection } from '@shardlab/storage'
import type { NodeInvocation } from '../host/node-host.js'
import { liveNode } from '../read/snapshots/live-node.js'
import { nodeWith } from '../read/snapshots/snapshot-read.js'
import { TimeLimitedSignal } from '../replication/protocol/time-limited-signal.js'
import type { LoggedTransaction } from './log/logged-transactions.js'

/** Stops a read, which waits and runs again. Clients never see this error. */
export class UndecidedRead extends Error {
  readonly transactions: readonly LoggedTransaction[]

  constructor(transactions: readonly LoggedTransaction[]) {
    super('the read has reached a change of a prepared transaction')
    this.name = 'UndecidedRead'
    this.transactions = transactions
  }
}

/**
 * @param covers namespaces that the command reads. Default: all
 * @returns the prepared transactions whose outcome the command needs; null: none
 */
export function undecidedIn(
  { host, concerns }: Pick<NodeInvocation, 'host' | 'concerns'>,
  covers?: (ns: string) => boolean,
): readonly LoggedTransaction[] | null {
  const { log, undecided } = host.transactions
  const { logged } = log
  if (logged.isEmpty) return null
  const { level, afterClusterTime, atClusterTime } = concerns.read
  if (level !== 'snapshot' && level !== 'linearizable' && afterClusterTime === null && atClusterTime === null)
    return null
  const needed = logged.prepared().filter((transaction) => {
    // A transaction does not commit before the time of its prepare.
    if (atClusterTime !== null && compareTimestamps(transaction.preparedAt!.ts, atClusterTime) > 0) return false
    return covers === undefined || undecided.hasWritten(transaction, covers)
  })
  return needed.length === 0 ? null : needed
}

/**
 * Whether the command can run again after it has met a change. A pipeline that writes cannot,
 * because it has written; one that merges cursors of other members cannot, because it has read from
 * them.
 */
export function mayRunAgain({ operation, args }: NodeInvocation): boolean {
  const { command } = operation
  if (command !== 'aggregate') return command === 'find' || command === 'count' || command === 'distinct'
  const [first] = args.pipeline() ?? []
  return writingStage(command, args) === null && (first === undefined || firstFieldName(first) !== mergeCursorsStage)
}

/** An aggregation may read any collection. */
export function readBy({ args, db, operation }: NodeInvocation): (ns: string) => boolean {
  const ns = operation.command === 'aggregate' ? null : args.namedCollection(db)
  return (each) => ns === null || each === ns
}

/** The command with collections in which it does not pass changes of the transactions. */
export function stoppingAt(invocation: NodeInvocation, transactions: readonly LoggedTransaction[]): NodeInvocation {
  const { host } = invocation
  const live = liveNode(host)
  const { undecided } = live.transactions
  for (const each of transactions) undecided.load(each, live.engine)
  const guarded = new Map<Collection, Collection>()
  /** Those that change the collections it has found. */
  const met = new Set<LoggedTransaction>()
  const collection = (ns: string): Collection | undefined => {
    const found = host.collection(ns)
    if (found === undefined) return undefined
    const known = guarded.get(found)
    if (known !== undefined) return known
    const changing = transactions.flatMap((transaction) => {
      const changes = undecided.changesOf(transaction, found.uuid)
      return changes === null ? [] : [{ transaction, changes }]
    })
    if (changing.length === 0) return found
    const ofCollection = changing.map(({ transaction }) => transaction)
    for (const each of ofCollection) met.add(each)
    const meet = (): never => {
      throw new UndecidedRead(ofCollection)
    }
    const made = new UndecidedCollection(
      found,
      changing.map(({ changes }) => changes),
      meet,
    )
    guarded.set(found, made)
    return made
  }
  const node = nodeWith(host, { get: () => host.engine }, collection)
  const stayOpen = (): void => {
    if (met.size > 0) throw new UndecidedRead([...met])
  }
  return { ...invocation, host: node, stayOpen }
}

/**
 * Resolves when one of the transactions has ended.
 * @throws CommandError 50 MaxTimeMSExpired, 11600 InterruptedAtShutdown, or that of a kill
 */
export async function awaitOutcome(
  invocation: Pick<NodeInvocation, 'host' | 'operation'>,
  transactions: readonly LoggedTransaction[],
): Promise<void> {
  const { host, operation } = invocation
  const { logged } = host.transactions.log
  operation.yields++
  const allPrepared = (): boolean => {
    const prepared = new Set(logged.prepared())
    return transactions.every((each) => prepared.has(each))
  }
  if (!allPrepared()) return
  await inTime(invocation, async (signal) => {
    // Each wait ends with any transaction of this member.
    do await untilAborted(invocation, logged.ending(), signal)
    while (!signal.aborted && allPrepared())
  })
}

/** Resolves with the wait, or when the signal is aborted. */
export function untilAborted(
  { host }: Pick<NodeInvocation, 'host'>,
  wait: Promise<void>,
  signal: CancelSignal,
): Promise<void> {
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

/** @throws CommandError 50 MaxTimeMSExpired, 11600 InterruptedAtShutdown, or that of a kill */
export async function inTime(
  { host, operation }: Pick<NodeInvocation, 'host' | 'operation'>,
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
  if (operation.signal.aborted) throw new CommandError('InterruptedAtShutdown', 'interrupted at shutdown')
  // A clock that a fault has set back stands still, so the check above misses the end of the time.
  if (limited?.signal.aborted === true) throw maxTimeExpired()
}
