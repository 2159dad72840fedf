/** Server: planner_ixselect.cpp (expandIndexes), planner_wildcard_helpers.cpp. */
import { DocumentWriter, type StringComparator } from '@shardlab/bson'
import { compileCollation, type FilterNode } from '@shardlab/query'
import type { IndexEntry } from '../plans/plan-stage.js'
import type { Index } from '../engine/types.js'

/**
 * One entry for an ordinary index. For a wildcard index, one for each path of the query that it
 * contains.
 */
export function entriesOf(index: Index, root: FilterNode): IndexEntry[] {
  if (index.wildcard === null) return [plainEntry(index)]
  const entries: IndexEntry[] = []
  for (const path of new Set(predicatePaths(root))) {
    // A path that ends with a dot matches elements of arrays, whose keys have the path without it.
    const isKeyPath = !path.endsWith('.') && !hasArrayPosition(index, path)
    if (isKeyPath && index.wildcard.holds(path)) entries.push(wildcardEntry(index, path))
  }
  return entries
}

export function plainEntry(index: Index): IndexEntry {
  return {
    index,
    pattern: index.pattern,
    keyPattern: index.key,
    multikeyPaths: index.multikeyPaths,
    multikey: index.multikey,
    wildcardPath: null,
  }
}

function wildcardEntry(index: Index, path: string): IndexEntry {
  const direction = index.wildcard!.direction
  const components = arrayComponents(index, path)
  return {
    index,
    pattern: [
      { path: '$_path', direction: 1 },
      { path, direction },
    ],
    keyPattern: new DocumentWriter(64).int32('$_path', 1).int32(path, direction).finish(),
    multikeyPaths: [new Set(), components],
    multikey: components.size > 0,
    wildcardPath: path,
  }
}

function arrayComponents(index: Index, path: string): Set<number> {
  const parts = path.split('.')
  const components = new Set<number>()
  for (let i = 0; i < parts.length; i++) if (index.arrayPaths.has(parts.slice(0, i + 1).join('.'))) components.add(i)
  return components
}

/**
 * A numeric component after an array may be a position in it, and keys do not contain positions.
 */
function hasArrayPosition(index: Index, path: string): boolean {
  const parts = path.split('.')
  return parts.some((part, i) => /^[0-9]+$/.test(part) && index.arrayPaths.has(parts.slice(0, i).join('.')))
}

export function* predicatePaths(node: FilterNode, prefix = ''): Generator<string, void, void> {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      for (const child of node.children) yield* predicatePaths(child, prefix)
      return
    case 'not':
      yield* predicatePaths(node.child, prefix)
      return
    case 'elemMatchObject':
      yield* predicatePaths(node.child, `${prefix}${node.path}.`)
      return
    case 'expr':
    case 'jsonSchema':
    case 'always':
      return
    default:
      yield prefix + node.path
  }
}

export function sameCollation(index: Index, strings: StringComparator | undefined): boolean {
  if (index.collation === null || strings === undefined) return index.collation === null && strings === undefined
  return index.labels!.compare === strings || compileCollation(index.collation)?.compare === strings
}
