/**
 * A query may use a partial index if every document that it matches also matches the index's
 * filter. Server: expression_algo.cpp (isSubsetOf).
 */
import { compareValues, type StringComparator } from '@shardlab/bson'
import { boundsFor, type FilterNode, type Interval } from '@shardlab/query'
import { containsNull } from './intervals.js'

/**
 * Whether every document that `query` matches also matches `partial`. False may also mean that a
 * proof would take too long.
 * @param strings the query's string comparison if it differs from the index's: predicates on
 *   strings then prove nothing
 */
export function implies(query: FilterNode, partial: FilterNode, strings?: StringComparator): boolean {
  if (partial.kind === 'and') return partial.children.every((child) => implies(query, child, strings))
  if (query.kind === 'or') return query.children.every((child) => implies(child, partial, strings))
  if (query.kind === 'and' && query.children.some((child) => implies(child, partial, strings))) return true
  if (partial.kind === 'or') return partial.children.some((child) => implies(query, child, strings))
  switch (partial.kind) {
    case 'exists':
      return (
        pathOf(query) === partial.path &&
        (query.kind === 'exists' || !intervalsOf(query, partial.path, strings).some(containsNull))
      )
    case 'comparison':
    case 'in':
      // Compare single predicates: two of the query's on an array may match different elements.
      return (
        pathOf(query) === partial.path &&
        isWithin(intervalsOf(query, partial.path, strings), intervalsOf(partial, partial.path))
      )
    case 'type':
      return (
        query.kind === 'type' &&
        query.path === partial.path &&
        query.types.every((type) => partial.types.includes(type))
      )
    case 'always':
      return partial.value
    default:
      return false
  }
}

function pathOf(node: FilterNode): string | undefined {
  return 'path' in node ? node.path : undefined
}

function intervalsOf(node: FilterNode, path: string, strings?: StringComparator): readonly Interval[] {
  return boundsFor(node, [{ path, direction: 1 }], { strings }).fields[0]!.intervals
}

function isWithin(inner: readonly Interval[], outer: readonly Interval[]): boolean {
  return inner.every((interval) =>
    outer.some((other) => {
      const low = compareValues(other.low, interval.low)
      const high = compareValues(interval.high, other.high)
      return (
        (low < 0 || (low === 0 && (other.lowInclusive || !interval.lowInclusive))) &&
        (high < 0 || (high === 0 && (other.highInclusive || !interval.highInclusive)))
      )
    }),
  )
}
