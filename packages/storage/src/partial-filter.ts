/**
 * Filters of partial indexes: which ones are allowed, and when a query may use the index, that is, when every
 * document that the query matches is in it. Server: index_catalog_impl.cpp, expression_algo.cpp (isSubsetOf).
 * Manual page: core/index-partial.
 */
import { CommandError, compareValues } from '@shardlab/bson'
import { boundsFor, compileFilter, formatDocument, type FilterNode, type Interval } from '@shardlab/query'
import { containsNull } from './index-ranges.js'

/** @throws CommandError CannotCreateIndex, or what the filter itself is refused with */
export function checkPartialFilter(filter: Uint8Array): void {
  const { root } = compileFilter(filter, { nowMs: 0, random: () => 0 })
  const refused = (): never => {
    throw new CommandError('CannotCreateIndex', `unsupported expression in partial index: ${formatDocument(filter)}`)
  }
  const check = (node: FilterNode): void => {
    switch (node.kind) {
      case 'and':
      case 'or':
        node.children.forEach(check)
        return
      case 'comparison':
      case 'in':
      case 'exists':
      case 'type':
        return
      default:
        refused()
    }
  }
  check(root)
}

/** Does every document that `query` matches also match `partial`? May say no where a proof would be longer. */
export function implies(query: FilterNode, partial: FilterNode): boolean {
  if (partial.kind === 'and') return partial.children.every((child) => implies(query, child))
  if (query.kind === 'or') return query.children.every((child) => implies(child, partial))
  if (query.kind === 'and' && query.children.some((child) => implies(child, partial))) return true
  if (partial.kind === 'or') return partial.children.some((child) => implies(query, child))
  switch (partial.kind) {
    case 'exists':
      return pathOf(query) === partial.path && (query.kind === 'exists' || !intervalsOf(query, partial.path).some(containsNull))
    case 'comparison':
    case 'in':
      // One predicate against one: two of the query's on an array may hold for different elements.
      return pathOf(query) === partial.path && isWithin(intervalsOf(query, partial.path), intervalsOf(partial, partial.path))
    case 'type':
      return query.kind === 'type' && query.path === partial.path && query.types.every((type) => partial.types.includes(type))
    case 'always':
      return partial.value
    default:
      return false
  }
}

function pathOf(node: FilterNode): string | undefined {
  return 'path' in node ? node.path : undefined
}

function intervalsOf(node: FilterNode, path: string): readonly Interval[] {
  return boundsFor(node, [{ path, direction: 1 }]).fields[0]!.intervals
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
