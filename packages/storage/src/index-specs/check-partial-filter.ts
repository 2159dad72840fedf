/** Server: index_catalog_impl.cpp. Manual page: core/index-partial. */
import { compileFilter, formatDocument, formatValue, noFilterFeatures, type FilterNode } from '@shardlab/query'
import { describeFilter } from '../explain/describe-filter.js'
import type { Fail } from './fail.js'

/**
 * @param orAndIn whether the filter may contain $or and $in
 * @throws CommandError CannotCreateIndex, and the errors of the filter itself
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
  check(compileFilter(filter, { now: () => 0, random: () => 0 }, noFilterFeatures).root)
}

/** The server's debug text, for all predicates that a partial index rejects. */
function debugText(node: FilterNode, level: number): string {
  const indent = '    '.repeat(level)
  if (node.kind === 'not') return `${indent}$not\n${debugText(node.child, level + 1)}`
  if (node.kind === 'or' || node.kind === 'nor')
    return `${indent}$${node.kind}\n${node.children.map((child) => debugText(child, level + 1)).join('')}`
  if (node.kind === 'comparison') return `${indent}${node.path} $${node.operator} ${formatValue(node.value)}\n`
  return `${indent}${formatDocument(describeFilter(node))}\n`
}
