/** Looks up documents directly in an index, without the cost of query planning. */
import { encodeKeyString, findField, keyStringUpperBound, type RawValue } from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'

export interface IndexRange {
  readonly fields: readonly string[]
  /** Prefix of the lowest keys, which are included by default. */
  readonly from: readonly RawValue[]
  readonly fromIncluded?: boolean
  /** Prefix of the highest keys, which are included by default. */
  readonly to: readonly RawValue[]
  readonly toIncluded?: boolean
  readonly reverse?: boolean
}

/**
 * In the order of the index. Scans the collection if a client has dropped the index. The collection
 * must not be written before the end.
 * @returns the next document per call; null at the end
 */
export function documentsIn(collection: Collection, range: IndexRange): () => Uint8Array | null {
  const { fields, fromIncluded, toIncluded, reverse = false } = range
  const low = encodeKeyString(range.from)
  const high = range.to === range.from ? low : encodeKeyString(range.to)
  const from = fromIncluded === false ? keyStringUpperBound(low) : low
  const to = toIncluded === false ? high : keyStringUpperBound(high)
  const index = indexOf(collection, fields)
  if (index === undefined) {
    const all = sorted(collection, fields, { from, to, reverse })[Symbol.iterator]()
    return () => all.next().value ?? null
  }
  const cursor = index.scanKeys(from, to, reverse)
  return () => {
    const recordId = cursor.next()
    return recordId < 0 ? null : collection.get(recordId)!.document
  }
}

function indexOf(collection: Collection, fields: readonly string[]): Index | undefined {
  for (const index of collection.indexes()) if (isOn(index, fields)) return index
  return undefined
}

function isOn({ pattern, partialFilter, sparse, labels }: Index, fields: readonly string[]): boolean {
  if (pattern.length !== fields.length || partialFilter !== null || sparse || labels !== null) return false
  for (let i = 0; i < fields.length; i++)
    if (pattern[i]!.path !== fields[i] || pattern[i]!.direction !== 1) return false
  return true
}

function sorted(
  collection: Collection,
  fields: readonly string[],
  { from, to, reverse }: { readonly from: string; readonly to: string; readonly reverse: boolean },
): Uint8Array[] {
  const found: [key: string, document: Uint8Array][] = []
  for (const { document } of collection.scan()) {
    const key = encodeKeyString(fields.map((field) => findField(document, field)))
    if (key >= from && key < to) found.push([key, document])
  }
  const sign = reverse ? -1 : 1
  return found.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, document]) => document)
}
