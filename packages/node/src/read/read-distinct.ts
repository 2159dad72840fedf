/**
 * Manual: reference/command/distinct. Server: distinct.cpp, canonical_distinct.cpp,
 * dotted_path_support (extractAllElementsAlongPath).
 */
import { BsonType, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { planDistinct, type Collection, type QueryPlan } from '@shardlab/storage'
import type { DistinctQuery, QuerySettings } from '@shardlab/member'
import { allowedBy } from './read-plan.js'

/** Like the server, includes orphans. @throws CommandError for an invalid hint */
export function planDistinctRows(
  collection: Collection,
  { key, filter, hint, context: { strings } }: DistinctQuery,
  settings: QuerySettings | undefined,
): QueryPlan {
  return planDistinct(collection, {
    key,
    filter,
    ...hint,
    ...allowedBy(settings, collection),
    ...(strings === undefined ? {} : { strings }),
  })
}

/**
 * Visits every value at a dotted path. Arrays on the way are traversed, a numeric component also
 * selects an element, an array at the end yields its elements, a missing value nothing. A field
 * whose own name contains the dots takes precedence.
 */
export function forEachValueAt(bytes: Uint8Array, start: number, path: string, visit: (value: RawValue) => void): void {
  const whole = findField(bytes, path, start)
  if (whole !== undefined) {
    if (whole.type !== BsonType.array) visit(whole)
    else for (const it = new FieldIterator(whole.bytes, whole.start); it.next();) visit(it.value())
    return
  }
  const dot = path.indexOf('.')
  if (dot < 0) return
  const value = findField(bytes, path.slice(0, dot), start)
  const rest = path.slice(dot + 1)
  if (value?.type === BsonType.object) forEachValueAt(value.bytes, value.start, rest, visit)
  else if (value?.type === BsonType.array) {
    if (/^[0-9]+(\.|$)/.test(rest)) forEachValueAt(value.bytes, value.start, rest, visit)
    else {
      for (const it = new FieldIterator(value.bytes, value.start); it.next();)
        if (it.type === BsonType.object || it.type === BsonType.array)
          forEachValueAt(it.bytes, it.valueStart, rest, visit)
    }
  }
}
