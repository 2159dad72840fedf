/** The `cursor` field of replies of other members. */
import { findField, type RawValue } from '@shardlab/bson'

export interface CursorReply {
  /** 0n: nothing follows. */
  readonly id: bigint
  readonly ns: string
  /** The array of documents. */
  readonly batch: RawValue
  /** The whole `cursor` value. */
  readonly cursor: RawValue
}

/** Reads `{ cursor: { firstBatch | nextBatch, id, ns } }`. Throws when it is none: members are ours. */
export function readCursorReply(body: Uint8Array, batchName: 'firstBatch' | 'nextBatch'): CursorReply {
  const cursor = findField(body, 'cursor')
  const id = cursor === undefined ? undefined : findField(cursor.bytes, 'id', cursor.start)
  const ns = cursor === undefined ? undefined : findField(cursor.bytes, 'ns', cursor.start)
  const batch = cursor === undefined ? undefined : findField(cursor.bytes, batchName, cursor.start)
  if (cursor === undefined || id === undefined || ns === undefined || batch === undefined)
    throw new Error(`a reply lacks its cursor or the ${batchName} in it`)
  return { id: id.asBigInt(), ns: ns.asString(), batch, cursor }
}
