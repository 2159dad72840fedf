/**
 * A predicate as the planner uses it and explain's `parsedQuery` shows it: no AND in an AND, no OR
 * of one, a list of one value as equality, equalities on one path as a list, children in a fixed
 * order. Server: matcher/expression_tree.cpp (optimize), canonical_query.cpp, expression_algo.cpp
 * (compare).
 */
import { compareValues, type RawValue, type StringComparator } from '@shardlab/bson'
import type { ComparisonNode, FilterNode } from '@shardlab/query'

export function normalized(node: FilterNode, strings?: StringComparator): FilterNode {
  switch (node.kind) {
    case 'and':
      return normalizedAnd(node.children.map((child) => normalized(child, strings)))
    case 'or':
      return normalizedOr(
        node.children.map((child) => normalized(child, strings)),
        strings,
      )
    case 'nor': {
      const children = node.children.map((child) => normalized(child, strings))
      return children.length === 1
        ? { kind: 'not', child: children[0]! }
        : { kind: 'nor', children: children.sort(compareNodes) }
    }
    case 'not':
      return { kind: 'not', child: normalized(node.child, strings) }
    case 'elemMatchObject':
      return { ...node, child: normalized(node.child, strings) }
    case 'in':
      return normalizedIn(node.path, node.values, node.regexes, strings)
    default:
      return node
  }
}

function normalizedAnd(children: readonly FilterNode[]): FilterNode {
  const flat = children.flatMap((child) => (child.kind === 'and' ? child.children : [child]))
  if (flat.some((child) => child.kind === 'always' && !child.value)) return { kind: 'always', value: false }
  const kept = flat.filter((child) => child.kind !== 'always')
  return kept.length === 1 ? kept[0]! : { kind: 'and', children: kept.sort(compareNodes) }
}

function normalizedOr(children: readonly FilterNode[], strings: StringComparator | undefined): FilterNode {
  const flat = children.flatMap((child) => (child.kind === 'or' ? child.children : [child]))
  if (
    flat.some(
      (child) => (child.kind === 'always' && child.value) || (child.kind === 'and' && child.children.length === 0),
    )
  )
    return { kind: 'and', children: [] }
  const kept = flat.filter((child) => child.kind !== 'always')
  if (kept.length === 0) return { kind: 'always', value: false }
  if (kept.length === 1) return kept[0]!
  if (kept.every(isEquality) && new Set(kept.map(({ path }) => path)).size === 1) {
    return normalizedIn(
      kept[0]!.path,
      kept.map(({ value }) => value),
      [],
      strings,
    )
  }
  return { kind: 'or', children: kept.sort(compareNodes) }
}

function isEquality(node: FilterNode): node is ComparisonNode {
  return node.kind === 'comparison' && node.operator === 'eq'
}

function normalizedIn(
  path: string,
  values: readonly RawValue[],
  regexes: Extract<FilterNode, { kind: 'in' }>['regexes'],
  strings: StringComparator | undefined,
): FilterNode {
  const sorted = [...values].sort((a, b) => compareValues(a, b, strings))
  const distinct = sorted.filter((value, i) => i === 0 || compareValues(sorted[i - 1], value, strings) !== 0)
  if (distinct.length + regexes.length === 0) return { kind: 'always', value: false }
  if (distinct.length === 1 && regexes.length === 0)
    return { kind: 'comparison', path, operator: 'eq', value: distinct[0]! }
  return { kind: 'in', path, values: distinct, regexes }
}

const kinds = [
  'and',
  'or',
  'elemMatchObject',
  'elemMatchValue',
  'size',
  'eq',
  'lte',
  'lt',
  'gt',
  'gte',
  'regex',
  'mod',
  'exists',
  'in',
  'bits',
  'not',
  'nor',
  'type',
  'expr',
  'always',
  'jsonSchema',
]

function kindOf(node: FilterNode): number {
  return kinds.indexOf(node.kind === 'comparison' ? node.operator : node.kind)
}

/** By kind, then path, then children. */
function compareNodes(a: FilterNode, b: FilterNode): number {
  const byKind = kindOf(a) - kindOf(b)
  if (byKind !== 0) return byKind
  const pathOfA = 'path' in a ? a.path : ''
  const pathOfB = 'path' in b ? b.path : ''
  if (pathOfA !== pathOfB) return pathOfA < pathOfB ? -1 : 1
  const childrenOfA = childrenOf(a)
  const childrenOfB = childrenOf(b)
  for (let i = 0; i < Math.min(childrenOfA.length, childrenOfB.length); i++) {
    const order = compareNodes(childrenOfA[i]!, childrenOfB[i]!)
    if (order !== 0) return order
  }
  return childrenOfA.length - childrenOfB.length
}

function childrenOf(node: FilterNode): readonly FilterNode[] {
  if ('children' in node) return node.children
  return 'child' in node ? [node.child] : []
}
