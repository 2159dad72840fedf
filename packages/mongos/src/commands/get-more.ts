import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, typeName } from '@shardlab/bson'
import { checkGetMoreAfterCheckout, getMoreBatchSize, getMoreNamespace } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'

/** How long a getMore on an awaitData cursor waits when it does not say. */
const defaultAwaitMs = 1000

export const getMore: CommandRow<MongosInvocation> = {
  name: 'getMore',
  routing: 'cursor',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/getMore',
  status: 'full',
  summary: 'Reads on from a cursor of this router.',
  fields: { collection: 'string!', batchSize: 'number', term: 'number', lastKnownCommittedOpTime: 'any' },
  async run(invocation) {
    const { args, db, host, operation } = invocation
    if (args.target.type !== BsonType.int64) {
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'getMore.getMore' is the wrong type '${typeName(args.target.type)}', expected type 'long'`,
      )
    }
    const batchSize = getMoreBatchSize(args, host.behaviours)
    host.statistics.opcounters.getmore++
    const id = args.target.asBigInt()
    const { cursor, tailable, leftMs } = host.cursors.pin(id, getMoreNamespace(args, db), invocation)
    let gone = true
    try {
      if (tailable === 'await-data') {
        // Here maxTimeMS is how long to wait, not how long the command may take.
        operation.limit(0)
      } else {
        if (args.has('maxTimeMS')) {
          gone = false
          throw new CommandError('BadValue', 'maxTimeMS can only be used with getMore for tailable, awaitData cursors')
        }
        operation.limit(leftMs ?? 0)
      }
      if (host.failPoints.active) checkGetMoreAfterCheckout({ host, operation, internal: false })
      const awaitMs = tailable === 'await-data' ? { awaitMs: args.number('maxTimeMS') ?? defaultAwaitMs } : {}
      const writer = await cursor.next(invocation, { batchSize, ...awaitMs }, id)
      gone = cursor.exhausted
      return writer
    } finally {
      host.cursors.unpin(id, gone)
    }
  },
}
