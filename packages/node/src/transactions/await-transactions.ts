/**
 * What commands outside of transactions wait for. Server: write_conflict_retry.cpp,
 * lock_manager.cpp.
 */
import { RequestFailedError } from '@shardlab/actor'
import { maxTimeExpired } from '@shardlab/member'
import { createsNothing } from '../ddl/no-definition-change.js'
import type { NodeInvocation } from '../host/node-host.js'
import type { Transaction } from './transaction.js'

/**
 * @throws CommandError 50 MaxTimeMSExpired, or the one with which the operation was killed; 11600
 *   InterruptedAtShutdown
 */
export async function awaitEnd(
  { host, operation }: Pick<NodeInvocation, 'host' | 'operation'>,
  transaction: Pick<Transaction, 'ended' | 'isOpen'>,
): Promise<void> {
  const leftMs = operation.timeLimit?.leftMs
  operation.yields++
  // The context of an ended node never resumes the caller.
  if (leftMs === undefined) {
    await host.context.all([operation.interruptible(transaction.ended)])
    return
  }
  let isOver = false
  const expiry = host.context.sleep(Math.max(0, leftMs), operation.signal).then(
    () => void (isOver = true),
    (error: unknown) => {
      if (!(error instanceof RequestFailedError)) throw error
    },
  )
  await host.context.all([operation.interruptible(Promise.race([transaction.ended, expiry]))])
  if (isOver && transaction.isOpen) throw maxTimeExpired()
  operation.checkForInterrupt()
}

/** @throws CommandError as {@link awaitEnd} */
export async function awaitUnlock(invocation: Pick<NodeInvocation, 'host' | 'operation'>): Promise<void> {
  const { writeLock } = invocation.host
  for (let held = writeLock.held; held !== null; held = writeLock.held) await awaitEnd(invocation, held)
}

/** Commands that change the definition of the collection that they name. */
const definitionCommands: ReadonlySet<string> = new Set([
  'collMod',
  'convertToCapped',
  'create',
  'createIndexes',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'reIndex',
  'renameCollection',
])

/** Null: the command changes no definition. */
export function definitionsOf(name: string, invocation: NodeInvocation): ((ns: string) => boolean) | null {
  if (!definitionCommands.has(name) || createsNothing(name, invocation)) return null
  const { args, db } = invocation
  if (name === 'dropDatabase') return (ns) => ns.startsWith(`${db}.`)
  if (name === 'renameCollection') {
    const [from, to] = [args.targetString(), args.string('to')]
    return (ns) => ns === from || ns === to
  }
  const target = args.namedCollection(db)
  return (ns) => ns === target
}

/**
 * Runs a change of definitions when no transaction uses the collections, and keeps transactions
 * from them until then.
 */
export async function afterTransactions<T>(
  invocation: NodeInvocation,
  covers: (ns: string) => boolean,
  run: () => Promise<T> | T,
): Promise<T> {
  const { transactions } = invocation.host
  const release = transactions.definitions.acquire(covers)
  try {
    for (let users = transactions.usersOf(covers); users.length > 0; users = transactions.usersOf(covers))
      await awaitEnd(invocation, users[0]!)
    return await run()
  } finally {
    release()
  }
}
