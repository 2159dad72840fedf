import { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../invocation.js'
import { writeBatch, type DocumentSource } from './cursor-manager.js'

export interface FirstBatchOptions {
  readonly batchSize: number
  /** No cursor stays open, whatever is left. */
  readonly singleBatch: boolean
  /** For getMore commands that name no size; 0: no limit but bytes. */
  readonly laterBatchSize: number
  readonly noTimeout: boolean
}

/** `{ cursor: { firstBatch, id, ns } }`; what does not fit stays behind a cursor. */
export function writeFirstBatch(
  { host, session }: NodeInvocation,
  ns: string,
  source: DocumentSource,
  options: FirstBatchOptions,
): DocumentWriter {
  const writer = new DocumentWriter(512).startDocument('cursor')
  const batch = writeBatch(writer, 'firstBatch', source, null, options.batchSize)
  let id = 0n
  if (!batch.exhausted && !options.singleBatch) {
    // Looking ahead spares the client a getMore that would find nothing.
    const pending = batch.pending ?? (options.batchSize > 0 ? source.next() : null)
    if (pending !== null || options.batchSize === 0) {
      const now = host.context.now()
      const cursor = host.cursors.open(
        { ns, source, session: session?.key ?? null, noTimeout: options.noTimeout, batchSize: options.laterBatchSize },
        now,
      )
      cursor.pending = pending
      id = cursor.id
    }
  }
  return writer.int64('id', id).string('ns', ns).end()
}
