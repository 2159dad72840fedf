/**
 * Paths in a wildcard index: `$**`, `path.$**`, and `wildcardProjection`. Server:
 * wildcard_key_generator.cpp, wildcard_validation.cpp. Manual page:
 * core/indexes/index-types/index-wildcard.
 */
import { BsonType, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'

export interface WildcardPaths {
  readonly direction: 1 | -1
  holds(path: string): boolean
  /** Whether the index may contain paths below this one. */
  reaches(path: string): boolean
  /** Empty: the projection excludes paths, or there is none. */
  readonly included: readonly string[]
}

export function isWildcardName(name: string): boolean {
  return name === '$**' || name.endsWith('.$**')
}

/** @returns null: the pattern is not a single wildcard */
export function wildcardPathsOf(spec: Uint8Array): WildcardPaths | null {
  const it = new FieldIterator(findField(spec, 'key')!.slice())
  if (!it.next() || !isWildcardName(it.name())) return null
  const direction = it.value().asNumber() < 0 ? -1 : 1
  const root = it.name() === '$**' ? '' : it.name().slice(0, -4)
  if (root !== '') return including([root], direction)
  const projection = findField(spec, 'wildcardProjection')
  if (projection === undefined) return excluding(['_id'], direction)
  const included: string[] = []
  const excluded: string[] = []
  for (const field of leavesOf(projection.slice())) (field.included ? included : excluded).push(field.path)
  const others = included.filter((path) => path !== '_id')
  if (others.length > 0) return including(included, direction)
  // `_id` is excluded unless the projection includes it.
  if (excluded.length > 0) return excluding(included.length > 0 ? excluded : [...excluded, '_id'], direction)
  return including(included, direction)
}

function including(included: readonly string[], direction: 1 | -1): WildcardPaths {
  const holds = (path: string): boolean => included.some((root) => isAtOrBelow(path, root))
  return {
    direction,
    included,
    holds,
    reaches: (path) => holds(path) || included.some((root) => isAtOrBelow(root, path)),
  }
}

function excluding(excluded: readonly string[], direction: 1 | -1): WildcardPaths {
  const holds = (path: string): boolean => !excluded.some((root) => isAtOrBelow(path, root))
  return { direction, included: [], holds, reaches: holds }
}

export function isAtOrBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}.`)
}

export interface ProjectedPath {
  readonly path: string
  readonly included: boolean
}

export function leavesOf(projection: Uint8Array, prefix = ''): ProjectedPath[] {
  const leaves: ProjectedPath[] = []
  for (const it = new FieldIterator(projection); it.next();) {
    const value = it.value()
    const path = prefix + it.name()
    if (value.type === BsonType.object) leaves.push(...leavesOf(value.slice(), `${path}.`))
    else leaves.push({ path, included: value.isTruthy() })
  }
  return leaves
}

/** Names every path in full: `{a: {b: 1}}` becomes `{'a.b': 1}`. */
export function normalizedProjection(projection: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(projection.length + 16)
  for (const { path, included } of leavesOf(projection)) writer.bool(path, included)
  return writer.finish()
}
