import { Long, type Document } from '@shardlab/bson'

export function labelsOf(reply: Document): readonly string[] {
  return (reply['errorLabels'] as string[] | undefined) ?? []
}

/** The reply's own error, and those of batch statements, bulkWrite operations and single shards. */
export function errorsOf(reply: Document): Document[] {
  const ofShards = Object.values<Document>(reply['raw'] ?? {}).filter(({ ok }) => ok === 0)
  const ofStatements = (reply['writeErrors'] as Document[] | undefined) ?? []
  const ofBulk = ((reply['cursor']?.firstBatch as Document[] | undefined) ?? []).filter(
    ({ ok, code }) => ok === 0 && code !== undefined,
  )
  return [...(reply['ok'] === 1 ? [] : [reply]), ...ofStatements, ...ofBulk, ...ofShards]
}

export const isNoCursor = (id: unknown): boolean => id === 0 || id === 0n || (Long.isLong(id) && id.isZero())

/** However the id was decoded, because routers refuse a double. */
export function cursorId(id: unknown): Long {
  if (Long.isLong(id)) return id
  return typeof id === 'bigint' ? Long.fromBigInt(id) : Long.fromNumber(Number(id))
}

/** However the number was decoded; null: not a number. */
export function codeOf(value: unknown): number | null {
  return typeof value === 'number' ? value : value === undefined || value === null ? null : Number(value)
}
