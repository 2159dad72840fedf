import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, typeName } from '@shardlab/bson'
import { nonNegative } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'

export const getMore: CommandRow<MongosInvocation> = {
  name: 'getMore',
  routing: 'cursor',
  access: 'read',
  manual: 'reference/command/getMore',
  status: 'full',
  summary: 'Reads on from a cursor of this router.',
  fields: { collection: 'string!', batchSize: 'number', term: 'number', lastKnownCommittedOpTime: 'any' },
  async run(invocation) {
    const { args, db, host, session } = invocation
    if (args.target.type !== BsonType.int64) {
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'getMore.getMore' is the wrong type '${typeName(args.target.type)}', expected type 'long'`,
      )
    }
    const asked = nonNegative(args, 'batchSize') ?? 0
    host.statistics.opcounters.getmore++
    const id = args.target.asBigInt()
    const { cursor, batchSize } = host.cursors.pin(id, `${db}.${args.string('collection')!}`, session)
    let gone = true
    try {
      const writer = await cursor.next(invocation, asked > 0 ? asked : batchSize, id)
      gone = cursor.exhausted
      return writer
    } finally {
      host.cursors.unpin(id, gone)
    }
  },
}
