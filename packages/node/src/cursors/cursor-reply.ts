import { DocumentWriter, findField } from '@shardlab/bson'
import { cursorOwner, type TailableMode } from '@shardlab/member'
import type { CursorSource } from './cursor-manager.js'
import { bytesOfBatch, writeBatch } from './write-batch.js'
import type { WrittenBatch } from './written-batch.js'
import type { NodeInvocation } from '../host/node-host.js'

export interface FirstBatchOptions {
  readonly batchSize: number
  readonly singleBatch: boolean
  readonly noTimeout: boolean
  /** Default `no`. */
  readonly tailable?: TailableMode
}

/** With the key order of listCollections and listIndexes: id, ns, firstBatch. */
export async function writeFirstListBatch(...args: Parameters<typeof writeFirstBatch>): Promise<DocumentWriter> {
  const cursor = findField((await writeFirstBatch(...args)).finish(), 'cursor')!
  const writer = new DocumentWriter(cursor.end - cursor.start + 192).startDocument('cursor')
  for (const name of ['id', 'ns', 'firstBatch']) writer.value(name, findField(cursor.bytes, name, cursor.start)!)
  return writer.end()
}

/**
 * The cursor stays open unless its source is known to be exhausted. Server: find_cmd.cpp,
 * shouldSaveCursor of find.cpp.
 * @returns a promise only if the source pauses
 */
export function writeFirstBatch(
  invocation: NodeInvocation,
  collectionNs: string,
  source: CursorSource,
  options: FirstBatchOptions,
): DocumentWriter | Promise<DocumentWriter> {
  const writer = new DocumentWriter(512).startDocument('cursor')
  const { timeLimit } = invocation.operation
  const request = {
    command: invocation,
    writer,
    source,
    countMax: options.batchSize,
    bytesMax: bytesOfBatch(invocation),
    timeLimit,
  }
  const batch = writeBatch(request, 'firstBatch', null)
  return batch instanceof Promise
    ? batch.then((written) => withCursor(invocation, writer, collectionNs, source, options, written))
    : withCursor(invocation, writer, collectionNs, source, options, batch)
}

/** For change streams, whose replies name the point at which they resume. */
export function writeResumeToken(writer: DocumentWriter, source: CursorSource, batch: WrittenBatch): void {
  if (source.postBatchResumeToken !== undefined)
    writer.document('postBatchResumeToken', source.postBatchResumeToken(batch))
}

function withCursor(
  { host, session, cursorNs, operation, concerns, transaction, stayOpen }: NodeInvocation,
  writer: DocumentWriter,
  collectionNs: string,
  source: CursorSource,
  { singleBatch, noTimeout, tailable = 'no' }: FirstBatchOptions,
  batch: WrittenBatch,
): DocumentWriter {
  const ns = cursorNs ?? collectionNs
  writeResumeToken(writer, source, batch)
  const isOpen = tailable === 'no' ? !batch.exhausted : source.isEOF !== true || batch.pending !== null
  const staysOpen = isOpen && !singleBatch
  // A read that has to run again discards this batch, so the batch is not counted yet.
  if (staysOpen) stayOpen?.()
  host.statistics.documents.returned += batch.count
  let id = 0n
  if (staysOpen) {
    const { timeLimit } = operation
    timeLimit?.pause()
    const { atClusterTime } = concerns.read
    const cursor = host.cursors.open(
      {
        ns,
        source,
        session: session?.key ?? null,
        owner: cursorOwner(operation),
        txnNumber: transaction?.txnNumber ?? null,
        noTimeout,
        tailable,
        timeLimit,
        atClusterTime,
        comment: operation.comment,
      },
      host.context.now(),
    )
    cursor.pending = batch.pending
    id = cursor.id
  } else source.close?.()
  return writer.int64('id', id).string('ns', ns).end()
}
