/** What is read out of replies. */
import { Long, type Document } from '@shardlab/bson'

export function labelsOf(reply: Document): readonly string[] {
  return (reply['errorLabels'] as string[] | undefined) ?? []
}

/** Every error in a reply: its own, those of a write batch's statements, those of a bulkWrite's, those of single shards. */
export function errorsOf(reply: Document): Document[] {
  const ofShards = Object.values<Document>(reply['raw'] ?? {}).filter(({ ok }) => ok === 0)
  const ofStatements = (reply['writeErrors'] as Document[] | undefined) ?? []
  const ofBulk = ((reply['cursor']?.firstBatch as Document[] | undefined) ?? []).filter(
    ({ ok, code }) => ok === 0 && code !== undefined,
  )
  return [...(reply['ok'] === 1 ? [] : [reply]), ...ofStatements, ...ofBulk, ...ofShards]
}

/** A cursor's end. */
export const isNoCursor = (id: unknown): boolean => id === 0 || id === 0n || (Long.isLong(id) && id.isZero())

/** A cursor's id as the server wants it. */
export const cursorId = (id: unknown): Long => (Long.isLong(id) ? id : Long.fromNumber(Number(id)))

/** A number of BSON, however it was decoded; null for what is none. */
export function codeOf(value: unknown): number | null {
  return typeof value === 'number' ? value : value === undefined || value === null ? null : Number(value)
}
