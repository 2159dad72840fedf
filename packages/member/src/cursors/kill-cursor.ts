import { unversionedNow, type NodeCommand, type TimestampPair } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'

/** killCursors, for the member that has the cursor. */
export function killCursor(db: string, ns: string, id: bigint, clusterTime: TimestampPair): NodeCommand {
  const body = new DocumentWriter(128)
    .string('killCursors', ns.slice(db.length + 1))
    .startArray('cursors')
    .int64('0', id)
    .end()
    .string('$db', db)
    .finish()
  return unversionedNow(db, body, clusterTime)
}
