/**
 * The predicate that remains after an index scan: nothing where bounds are exact, on index keys
 * where these suffice, otherwise on documents. Server: planner_access.cpp (tightness).
 */
import { boundsFor, isEverything, pathNodes, type Filter, type FilterNode } from '@shardlab/query'
import type { AccessPath } from './access-path.js'

export interface Residual {
  readonly onKeys: FilterNode | null
  readonly onDocuments: FilterNode | null
}

/** @param root the query's predicate; `path.predicate` is the same over the index's values */
export function residualOf(path: AccessPath, root: FilterNode): Residual {
  const children = conjuncts(root)
  const inIndex = conjuncts(path.predicate)
  const onKeys: FilterNode[] = []
  const onDocuments: FilterNode[] = []
  children.forEach((child, i) => {
    if (child.kind === 'always' && child.value) return
    if (isDecidedByBounds(path, inIndex[i]!)) return
    if (appliesToKey(path, child)) onKeys.push(child)
    else onDocuments.push(child)
  })
  if (onDocuments.length > 0 && onDocuments.length === children.length) return { onKeys: null, onDocuments: root }
  return { onKeys: all(onKeys), onDocuments: all(onDocuments) }
}

export function conjuncts(root: FilterNode): readonly FilterNode[] {
  return root.kind === 'and' ? root.children.flatMap(conjuncts) : [root]
}

function all(children: readonly FilterNode[]): FilterNode | null {
  if (children.length === 0) return null
  return children.length === 1 ? children[0]! : { kind: 'and', children }
}

function isDecidedByBounds({ scan: { entry, bounds }, otherComparator }: AccessPath, node: FilterNode): boolean {
  const on = onlyPathOf(node)
  const i = entry.pattern.findIndex(({ path }) => path === on)
  if (i < 0) return false
  const field = bounds.fields[i]!
  if (field.exact) return true
  // Without arrays, the bounds of a field are the intersection of all its predicates.
  if (entry.multikeyPaths[i]!.size > 0 || isEverything(field.intervals) || entry.wildcardPath !== null) return false
  return boundsFor(node, [entry.pattern[i]!], { strings: otherComparator }).fields[0]!.exact
}

/** Regular expressions and $mod need only the value, which the key contains. */
function appliesToKey({ scan: { entry } }: AccessPath, node: FilterNode): boolean {
  if (node.kind !== 'regex' && node.kind !== 'mod' && !(node.kind === 'in' && node.regexes.length > 0)) return false
  if (entry.index.collation !== null || entry.wildcardPath !== null) return false
  const i = entry.pattern.findIndex(({ path, direction }) => path === node.path && direction !== 'hashed')
  return i >= 0 && entry.multikeyPaths[i]!.size === 0
}

/** @returns null: the predicate concerns several paths, or more than their values */
function onlyPathOf(node: FilterNode): string | null {
  if (['expr', 'jsonSchema', 'elemMatchObject', 'nor'].includes(node.kind)) return null
  const paths = new Set([...pathNodes(node)].map(({ path }) => path))
  return paths.size === 1 && !mentionsMore(node) ? [...paths][0]! : null
}

function mentionsMore(node: FilterNode): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.children.some(mentionsMore)
    case 'not':
      return mentionsMore(node.child)
    case 'expr':
    case 'jsonSchema':
    case 'nor':
    case 'elemMatchObject':
    case 'always':
      return true
    default:
      return false
  }
}

export function partOf(filter: Filter, node: FilterNode | null): Filter | null {
  if (node === null) return null
  return node === filter.root ? filter : filter.part(node)
}
