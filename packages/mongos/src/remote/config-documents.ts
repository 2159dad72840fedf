/** Includes invalid catalog documents. Routing reads the cache instead. */
import { configAddress, unversioned } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { readCursorReply } from '../cursors/cursor-reply.js'
import { documentsIn, replyError } from './command-reply.js'

const wholeBatch = 100_000

/**
 * In the order of `sort`.
 * @throws CommandError of the config server or of the request to it
 */
export async function configDocuments(
  invocation: MongosInvocation,
  collection: string,
  filter: Uint8Array,
  sort: Uint8Array,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  let body = new DocumentWriter(256)
    .string('find', collection)
    .document('filter', filter)
    .document('sort', sort)
    .int32('batchSize', wholeBatch)
    .string('$db', 'config')
  for (let batch: 'firstBatch' | 'nextBatch' = 'firstBatch'; ; batch = 'nextBatch') {
    const { body: reply } = await invocation.host.remote.command(
      configAddress,
      unversioned('config', body.finish()),
      invocation.operation,
      batch === 'firstBatch',
    )
    const error = replyError(reply)
    if (error !== null) throw error
    const { id, cursor } = readCursorReply(reply, batch)
    found.push(...documentsIn(cursor.slice(), batch))
    if (id === 0n) return found
    body = new DocumentWriter(256)
      .int64('getMore', id)
      .string('collection', collection)
      .int32('batchSize', wholeBatch)
      .string('$db', 'config')
  }
}
