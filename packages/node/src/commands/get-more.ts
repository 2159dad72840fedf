import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import { nonNegative } from '../crud/read-arguments.js'
import { writeBatch } from '../cursors/cursor-manager.js'
import type { NodeInvocation } from '../invocation.js'

export const getMore: CommandRow<NodeInvocation> = {
  name: 'getMore',
  routing: 'cursor',
  access: 'read',
  manual: 'reference/command/getMore',
  status: 'full',
  summary: 'Reads the next batch of a cursor.',
  fields: { collection: 'string!', batchSize: 'number', term: 'any', lastKnownCommittedOpTime: 'any' },
  run({ host, args, db, session }) {
    if (args.target.type !== BsonType.int64)
      throw new CommandError('TypeMismatch', `BSON field 'getMore.getMore' is the wrong type, expected type 'long'`)
    host.opcounters.getmore++
    const id = args.target.asBigInt()
    const ns = `${db}.${args.string('collection')!}`
    const cursor = host.cursors.get(id)
    if (cursor.ns !== ns)
      throw new CommandError(
        'Unauthorized',
        `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${cursor.ns}`,
      )
    if (cursor.session !== (session?.key ?? null)) {
      throw new CommandError(
        50738,
        `Cannot run getMore on cursor ${id}, which was ${cursor.session === null ? 'not created in a session, in session' : 'created in another session, in session'} ${session === null ? 'none' : Buffer.from(session.key, 'latin1').toString('hex')}`,
      )
    }
    const asked = nonNegative(args, 'batchSize') ?? 0
    const size = asked > 0 ? asked : cursor.batchSize
    const writer = new DocumentWriter(512).startDocument('cursor')
    try {
      const batch = writeBatch(writer, 'nextBatch', cursor.source, cursor.pending, size > 0 ? size : Number.POSITIVE_INFINITY)
      cursor.pending = batch.exhausted ? null : (batch.pending ?? cursor.source.next())
    } catch (error) {
      // As on the server a cursor does not survive an error.
      host.cursors.close(id)
      throw error
    }
    cursor.lastUsedMs = host.context.now()
    const done = cursor.pending === null
    if (done) host.cursors.close(id)
    return writer
      .int64('id', done ? 0n : id)
      .string('ns', ns)
      .end()
  },
}
