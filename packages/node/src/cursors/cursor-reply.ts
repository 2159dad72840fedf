import { DocumentWriter, findField } from '@shardlab/bson'
import type { TailableMode } from '@shardlab/member'
import type { CursorSource } from './cursor-manager.js'
import { writeBatch, type WrittenBatch } from './write-batch.js'
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
  const request = { command: invocation, writer, source, countMax: options.batchSize, timeLimit }
  const batch = writeBatch(request, 'firstBatch', null)
  return batch instanceof Promise
    ? batch.then((written) => withCursor(invocation, writer, collectionNs, source, options, written))
    : withCursor(invocation, writer, collectionNs, source, options, batch)
}

function withCursor(
  { host, session, cursorNs, operation, transaction }: NodeInvocation,
  writer: DocumentWriter,
  collectionNs: string,
  source: CursorSource,
  { singleBatch, noTimeout, tailable = 'no' }: FirstBatchOptions,
  batch: WrittenBatch,
): DocumentWriter {
  const ns = cursorNs ?? collectionNs
  host.statistics.documents.returned += batch.count
  let id = 0n
  if ((!batch.exhausted || tailable !== 'no') && !singleBatch) {
    const { timeLimit } = operation
    timeLimit?.pause()
    const cursor = host.cursors.open(
      {
        ns,
        source,
        session: session?.key ?? null,
        txnNumber: transaction?.txnNumber ?? null,
        noTimeout,
        tailable,
        timeLimit,
      },
      host.context.now(),
    )
    cursor.pending = batch.pending
    id = cursor.id
  } else source.close?.()
  return writer.int64('id', id).string('ns', ns).end()
}
