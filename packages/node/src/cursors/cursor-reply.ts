import { DocumentWriter } from '@shardlab/bson'
import type { TailableMode } from '@shardlab/member'
import { writeBatch, type CursorSource } from './cursor-manager.js'
import type { NodeInvocation } from '../host/node-host.js'

export interface FirstBatchOptions {
  readonly batchSize: number
  readonly singleBatch: boolean
  readonly noTimeout: boolean
  /** Default `no`. */
  readonly tailable?: TailableMode
}

/**
 * The cursor stays open unless its source is known to be exhausted. Server: find_cmd.cpp,
 * shouldSaveCursor of find.cpp.
 */
export function writeFirstBatch(
  { host, session, cursorNs, operation }: NodeInvocation,
  collectionNs: string,
  source: CursorSource,
  { batchSize, singleBatch, noTimeout, tailable = 'no' }: FirstBatchOptions,
): DocumentWriter {
  const ns = cursorNs ?? collectionNs
  const writer = new DocumentWriter(512).startDocument('cursor')
  const batch = writeBatch(writer, 'firstBatch', source, null, batchSize)
  host.statistics.documents.returned += batch.count
  let id = 0n
  if ((!batch.exhausted || tailable !== 'no') && !singleBatch) {
    const { timeLimit } = operation
    timeLimit?.pause()
    const cursor = host.cursors.open(
      { ns, source, session: session?.key ?? null, noTimeout, tailable, timeLimit },
      host.context.now(),
    )
    cursor.pending = batch.pending
    id = cursor.id
  } else source.close?.()
  return writer.int64('id', id).string('ns', ns).end()
}
