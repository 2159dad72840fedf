import { FieldIterator, findField, type RawValue } from '@shardlab/bson'

export interface CursorReply {
  /** 0n: the cursor is exhausted. */
  readonly id: bigint
  readonly ns: string
  readonly batch: RawValue
  readonly cursor: RawValue
}

/**
 * Reads `{ cursor: { firstBatch | nextBatch, id, ns } }`. Throws when it is absent: another member
 * has sent an invalid reply.
 */
export function readCursorReply(body: Uint8Array, batchName: 'firstBatch' | 'nextBatch'): CursorReply {
  const cursor = findField(body, 'cursor')
  let id: RawValue | undefined
  let ns: RawValue | undefined
  let batch: RawValue | undefined
  if (cursor !== undefined) {
    for (const it = new FieldIterator(cursor.bytes, cursor.start); it.next();) {
      const name = it.name()
      if (name === batchName) batch ??= it.value()
      else if (name === 'id') id ??= it.value()
      else if (name === 'ns') ns ??= it.value()
    }
  }
  if (cursor === undefined || id === undefined || ns === undefined || batch === undefined)
    throw new Error(`a reply lacks its cursor or the ${batchName} in it`)
  return { id: id.asBigInt(), ns: ns.asName(), batch, cursor }
}
