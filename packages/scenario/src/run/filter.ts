import type { Document } from '@shardlab/bson'
import type { Shape } from '../file/application.js'
import type { Keys, KeyValue, Progress } from '../keys/keys.js'

/** A draw from the values of a field. */
export interface FieldDraw {
  /** undefined: an `_id` without a distribution is the number of the document. */
  readonly keys: Keys | undefined
  readonly progress: Progress
  /** In [0, 1). */
  readonly u: number
}

/** The filter of one operation. */
export function filterOf({ where }: Pick<Shape, 'where'>, draw: (field: string) => FieldDraw): Document {
  const filter: Document = {}
  for (const [field, condition] of Object.entries(where)) {
    const value = valueOf(draw(field))
    if (condition === 'equal') filter[field] = value
    else if ('range' in condition)
      filter[field] = typeof value === 'number' ? { $gte: value, $lt: value + condition.range } : { $gte: value }
    else filter[field] = { $in: Array.from({ length: condition.in }, () => valueOf(draw(field))) }
  }
  return filter
}

function valueOf({ keys, progress, u }: FieldDraw): KeyValue {
  return keys === undefined ? Math.floor(u * progress.documents) : keys.drawn(u, progress)
}

/** @param same fields with one number for all draws */
export function drawnOnce(same: readonly string[] = [], fraction: () => number): (field: string) => number {
  const drawn = new Map<string, number>()
  return (field) => {
    const known = drawn.get(field)
    if (known !== undefined) return known
    const drawnNow = fraction()
    if (same.includes(field)) drawn.set(field, drawnNow)
    return drawnNow
  }
}
