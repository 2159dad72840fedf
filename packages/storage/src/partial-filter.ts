/**
 * Filters of partial indexes: which ones are allowed, and when a query may use the index, that is, when every
 * document that the query matches is in it. Server: index_catalog_impl.cpp, expression_algo.cpp (isSubsetOf).
 * Manual page: core/index-partial.
 */
import { compareValues, type StringComparator } from '@shardlab/bson'
import {
  boundsFor,
  compileFilter,
  formatDocument,
  formatValue,
  noFilterFeatures,
  type FilterNode,
  type Interval,
} from '@shardlab/query'
import { describeFilter } from './explain/describe-filter.js'
import { containsNull } from './planner/intervals.js'
import type { Fail } from './validate-index-spec.js'

/**
 * @param orAndIn may it hold $or and $in?
 * @throws CommandError CannotCreateIndex, or what the filter itself is refused with
 */
export function checkPartialFilter(filter: Uint8Array, orAndIn: boolean, fail: Fail): void {
  const refused = (node: FilterNode): void => {
    fail('CannotCreateIndex', `Expression not supported in partial index: ${debugText(node, 0)}`)
  }
  const check = (node: FilterNode): void => {
    switch (node.kind) {
      case 'and':
        return node.children.forEach(check)
      case 'or':
        return orAndIn ? node.children.forEach(check) : refused(node)
      case 'in':
        return orAndIn ? undefined : refused(node)
      case 'comparison':
      case 'exists':
      case 'type':
        return
      default:
        refused(node)
    }
  }
  check(compileFilter(filter, { nowMs: 0, random: () => 0 }, noFilterFeatures).root)
}

/** As the server prints a predicate for people, as far as what is refused goes. */
function debugText(node: FilterNode, level: number): string {
  const indent = '    '.repeat(level)
  if (node.kind === 'not') return `${indent}$not\n${debugText(node.child, level + 1)}`
  if (node.kind === 'or' || node.kind === 'nor')
    return `${indent}$${node.kind}\n${node.children.map((child) => debugText(child, level + 1)).join('')}`
  if (node.kind === 'comparison') return `${indent}${node.path} $${node.operator} ${formatValue(node.value)}\n`
  return `${indent}${formatDocument(describeFilter(node))}\n`
}

/**
 * Does every document that `query` matches also match `partial`? May say no where a proof would be longer.
 * @param strings the query's comparison of strings when it is not the one of the index: what it says of strings then proves nothing
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
      // One predicate against one: two of the query's on an array may hold for different elements.
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
