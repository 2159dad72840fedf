import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import {
  checkCursorOwner,
  getMoreBatchSize,
  hasGenericComments,
  cursorIdOf,
  defaultAwaitMs,
  getMoreNamespace,
  withContext,
  checkGetMoreAfterCheckout,
  getMoreSpec,
  withStreamLabel,
} from '@shardlab/member'
import type { OpenCursor } from '../cursors/cursor-manager.js'
import { hasPaused, resumeSource } from '../cursors/resume-source.js'
import { writeResumeToken } from '../cursors/cursor-reply.js'
import { bytesOfBatch, writeBatch } from '../cursors/write-batch.js'
import type { WrittenBatch } from '../cursors/written-batch.js'
import { checkCollectionOfCursor } from '../cursors/invalidate-cursors.js'
import type { NodeInvocation } from '../host/node-host.js'

export const getMore: CommandRow<NodeInvocation> = {
  ...getMoreSpec,
  routing: 'cursor',
  status: 'partial',
  deviations: ['D610'],
  summary: 'Returns the next batch of a cursor.',
  run(invocation) {
    const { host, args, db } = invocation
    const id = cursorIdOf(args)
    host.opcounters.getmore++
    const ns = getMoreNamespace(args, db, host.behaviours)
    const batchSize = getMoreBatchSize(args, id, host.behaviours)
    checkCollectionOfCursor(host, ns, host.cursors.find(id))
    const cursor = host.cursors.get(id)
    checkCursorOwner(id, cursor.owner ?? null, invocation)
    checkSession(invocation, cursor)
    checkTransaction(invocation, cursor)
    if (cursor.ns !== ns)
      throw new CommandError(
        'Unauthorized',
        `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${cursor.ns}`,
      )
    if (args.has('maxTimeMS') && cursor.tailable !== 'await-data')
      throw new CommandError('BadValue', 'cannot set maxTimeMS on getMore command for a non-awaitData cursor')
    if (hasGenericComments(host.behaviours.language)) invocation.operation.inheritedComment = cursor.comment ?? null
    checkReads(invocation, cursor)
    if (cursor.source.postBatchResumeToken !== undefined) return resumableBatch(invocation, cursor, batchSize)
    if (cursor.tailable === 'await-data') return awaitBatch(invocation, cursor, batchSize)
    return nextBatch(invocation, cursor, batchSize)
  },
}

/**
 * Runs before anything is read: a cursor whose collection is gone loses even rows that were read
 * and sorted.
 */
function checkReads({ host, operation, routed }: NodeInvocation, { id, source }: OpenCursor): void {
  try {
    if (host.failPoints.active) checkGetMoreAfterCheckout({ host, operation, internal: routed !== null })
    if (source.readsAhead !== true) source.reads?.check()
  } catch (error) {
    host.cursors.close(id)
    throw source.postBatchResumeToken === undefined ? error : withStreamLabel(error, host.behaviours)
  }
}

/** Of a change stream. */
async function resumableBatch(
  invocation: NodeInvocation,
  cursor: OpenCursor,
  batchSize: number,
): Promise<DocumentWriter> {
  try {
    return await awaitBatch(invocation, cursor, batchSize)
  } catch (error) {
    throw withStreamLabel(error, invocation.host.behaviours)
  }
}

async function awaitBatch(invocation: NodeInvocation, cursor: OpenCursor, batchSize: number): Promise<DocumentWriter> {
  const { host, args, operation } = invocation
  cursor.source.slice?.begin()
  const untilMs = host.context.now() + (args.number('maxTimeMS') ?? defaultAwaitMs)
  for (;;) {
    cursor.pending ??= closingOnError(invocation, cursor, () => cursor.source.next())
    if (cursor.pending === null && hasPaused(cursor.source)) {
      await resume(invocation, cursor)
      continue
    }
    const leftMs = untilMs - host.context.now()
    if (cursor.pending !== null || leftMs <= 0 || cursor.source.isEOF || cursor.source.hasAdvanced === true) break
    cursor.waiting = operation
    try {
      if (!(await waitForMore(invocation, cursor, leftMs))) break
    } finally {
      cursor.waiting = null
    }
  }
  return nextBatch(invocation, cursor, batchSize)
}

/** A change stream reads the new entries at once: most do not concern it, and it waits on. */
function waitForMore({ host, operation }: NodeInvocation, cursor: OpenCursor, leftMs: number): Promise<boolean> {
  const { source } = cursor
  const { awaits } = source
  const wait = (key: string, isReady?: () => boolean): Promise<boolean> =>
    host.reads.during(host.context, operation, (context) =>
      host.insertWaiters.wait(context, operation, key, leftMs, isReady),
    )
  if (awaits === undefined) return wait(cursor.ns)
  const isReady = () => {
    try {
      source.slice?.begin()
      cursor.pending ??= source.next()
    } catch {
      // It is thrown again by the read that follows.
      return true
    }
    return cursor.pending !== null || hasPaused(source) || source.hasAdvanced === true
  }
  return wait(awaits, isReady)
}

async function resume(invocation: NodeInvocation, cursor: OpenCursor): Promise<void> {
  cursor.waiting = invocation.operation
  try {
    await resumeSource(invocation, cursor.source, null)
  } catch (error) {
    throw closedBy(invocation, cursor, error)
  } finally {
    cursor.waiting = null
  }
}

function nextBatch(
  invocation: NodeInvocation,
  cursor: OpenCursor,
  batchSize: number,
): DocumentWriter | Promise<DocumentWriter> {
  const writer = new DocumentWriter(512).startDocument('cursor')
  cursor.timeLimit?.resume()
  cursor.source.slice?.begin()
  const batch = closingOnError(invocation, cursor, () =>
    writeBatch(
      {
        command: invocation,
        writer,
        source: cursor.source,
        countMax: batchSize > 0 ? batchSize : Number.POSITIVE_INFINITY,
        bytesMax: bytesOfBatch(invocation),
        timeLimit: cursor.timeLimit ?? null,
      },
      'nextBatch',
      cursor.pending,
    ),
  )
  return batch instanceof Promise
    ? finishLater(invocation, cursor, writer, batch)
    : finishBatch(invocation, cursor, writer, batch)
}

async function finishLater(
  invocation: NodeInvocation,
  cursor: OpenCursor,
  writer: DocumentWriter,
  writing: Promise<WrittenBatch>,
): Promise<DocumentWriter> {
  cursor.waiting = invocation.operation
  let batch: WrittenBatch
  try {
    batch = await writing
  } catch (error) {
    cursor.waiting = null
    throw closedBy(invocation, cursor, error)
  }
  cursor.waiting = null
  return finishBatch(invocation, cursor, writer, batch)
}

function finishBatch(
  { host, operation }: NodeInvocation,
  cursor: OpenCursor,
  writer: DocumentWriter,
  batch: WrittenBatch,
): DocumentWriter {
  host.statistics.documents.returned += batch.count
  cursor.pending = batch.pending
  cursor.lastUsedMs = host.context.now()
  cursor.timeLimit?.pause()
  const done = batch.exhausted && (cursor.tailable === 'no' || cursor.source.isEOF === true)
  writeResumeToken(writer, cursor.source, batch)
  if (done) host.cursors.close(cursor.id)
  operation.repeats = !done && host.behaviours.nodesStreamGetMores
  writer.int64('id', done ? 0n : cursor.id).string('ns', cursor.ns)
  const time = cursor.atClusterTime ?? null
  if (time !== null) writer.timestamp('atClusterTime', time[0], time[1])
  return writer.end()
}

function closingOnError<T>(invocation: NodeInvocation, cursor: OpenCursor, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw closedBy(invocation, cursor, error)
  }
}

/** Like the server, closes the cursor on any error. */
function closedBy({ host }: NodeInvocation, cursor: OpenCursor, error: unknown): unknown {
  host.cursors.close(cursor.id)
  return host.behaviours.thrownErrorsNameExecutor ? withContext(error, 'Executor error during getMore') : error
}

/** @throws CommandError 50736 to 50738 if another session opened the cursor */
function checkSession({ session }: NodeInvocation, { id, session: owner }: OpenCursor): void {
  const caller = session?.key ?? null
  if (owner === caller) return
  const text = (key: string) => Buffer.from(key, 'latin1').toString('hex')
  const cannot = `Cannot run getMore on cursor ${id}, which was`
  if (owner === null) throw new CommandError(50736, `${cannot} not created in a session, in session ${text(caller!)}`)
  if (caller === null) throw new CommandError(50737, `${cannot} created in session ${text(owner)}, without an lsid`)
  throw new CommandError(50738, `${cannot} created in session ${text(owner)}, in session ${text(caller)}`)
}

/** @throws CommandError 50739 to 50741 if another transaction opened the cursor, or none */
function checkTransaction({ transaction }: NodeInvocation, { id, txnNumber: owner }: OpenCursor): void {
  const caller = transaction?.txnNumber ?? null
  if (owner === caller) return
  const cannot = `Cannot run getMore on cursor ${id}, which was`
  if (owner === null) throw new CommandError(50739, `${cannot} not created in a transaction, in transaction ${caller}`)
  if (caller === null) throw new CommandError(50740, `${cannot} created in transaction ${owner}, without a txnNumber`)
  throw new CommandError(50741, `${cannot} created in transaction ${owner}, in transaction ${caller}`)
}
