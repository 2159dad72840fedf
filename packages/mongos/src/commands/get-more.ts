import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import {
  checkGetMoreAfterCheckout,
  getMoreBatchSize,
  cursorIdOf,
  defaultAwaitMs,
  getMoreNamespace,
  getMoreSpec,
  hasGenericComments,
  withAtClusterTime,
  withStreamLabel,
} from '@shardlab/member'
import { ChangeStreamCursor } from '../change-streams/change-stream-cursor.js'
import type { MongosInvocation } from '../host/mongos-host.js'

export const getMore: CommandRow<MongosInvocation> = {
  ...getMoreSpec,
  routing: 'cursor',
  status: 'partial',
  deviations: ['D610'],
  summary: 'Returns the next batch of a cursor of this router.',
  fields: { ...getMoreSpec.fields, term: 'number' },
  async run(invocation) {
    const { args, db, host, operation } = invocation
    const id = cursorIdOf(args)
    const ns = getMoreNamespace(args, db, host.behaviours)
    const batchSize = getMoreBatchSize(args, id, host.behaviours)
    host.statistics.opcounters.getmore++
    const { cursor, tailable, leftMs, atClusterTime, comment } = host.cursors.pin(id, ns, invocation)
    if (hasGenericComments(host.behaviours.language)) operation.inheritedComment = comment
    let gone = true
    try {
      if (tailable !== 'await-data') {
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
      operation.repeats = !gone && host.behaviours.routersStreamGetMores
      return atClusterTime === null ? writer : withAtClusterTime(writer, atClusterTime)
    } catch (error) {
      throw cursor instanceof ChangeStreamCursor ? withStreamLabel(error, host.behaviours) : error
    } finally {
      host.cursors.unpin(id, gone)
    }
  },
}
