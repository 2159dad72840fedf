import { BsonType, CommandError, DocumentWriter, findPath, type RawValue } from '@shardlab/bson'
import type { FilterNode } from '../filter/ast.js'
import type { Filter } from '../filter/compile.js'

interface Equality {
  readonly path: string
  readonly value: RawValue
}

/** From direct equalities, `$eq`, `$and` of them, and `$in` with a single value. */
function equalitiesOf(root: FilterNode): Equality[] {
  switch (root.kind) {
    case 'and':
      return root.children.flatMap(equalitiesOf)
    case 'comparison':
      return root.operator === 'eq' ? [{ path: root.path, value: root.value }] : []
    case 'in':
      return root.values.length === 1 && root.regexes.length === 0 ? [{ path: root.path, value: root.values[0]! }] : []
    default:
      return []
  }
}

/**
 * Null unless equality fixes the value of every path. An equality of `a` with a document also fixes
 * `a.b`. An array, or two equalities on one path, fix nothing. Server: `extractShardKeyFromQuery`.
 */
export function equalityValues(root: FilterNode, paths: readonly string[]): Map<string, RawValue> | null {
  const equalities = equalitiesOf(root)
  const values = new Map<string, RawValue>()
  for (const path of paths) {
    const relevant = equalities.filter(
      (equality) =>
        equality.path === path || path.startsWith(`${equality.path}.`) || equality.path.startsWith(`${path}.`),
    )
    const only = relevant[0]
    if (relevant.length !== 1 || only === undefined) return null
    const value = valueWithin(only, path)
    if (value === undefined || value.type === BsonType.array) return null
    values.set(path, value)
  }
  return values
}

function valueWithin(equality: Equality, path: string): RawValue | undefined {
  if (equality.path === path) return equality.value
  if (!path.startsWith(`${equality.path}.`) || equality.value.type !== BsonType.object) return undefined
  return findPath(equality.value.slice(), path.slice(equality.path.length + 1))
}

interface Branch {
  readonly children: Map<string, Branch | RawValue>
}

/**
 * The document to which an upsert applies its update: the filter's equalities, `_id` first. Server:
 * extractEqualityMatches and extractFullEqualityMatches.
 * @param paths takes only equalities that fix these paths: a replacement takes `_id` alone
 * @throws CommandError NotSingleValueField (54) when they contradict each other; NotExactValueField
 *   (111) when one fixes only a part of such a path
 */
export function upsertBase(filter: Filter, paths: readonly string[] | null = null): Uint8Array {
  const root: Branch = { children: new Map() }
  const seen: string[] = []
  for (const { path, value } of equalitiesOf(filter.root)) {
    if (path.startsWith('$') || (paths !== null && !fixes(path, paths))) continue
    for (const other of seen) {
      if (other === path)
        throw new CommandError(
          'NotSingleValueField',
          `cannot infer query fields to set, path '${path}' is matched twice`,
        )
      if (path.startsWith(`${other}.`) || other.startsWith(`${path}.`))
        throw new CommandError(
          'NotSingleValueField',
          `cannot infer query fields to set, both paths '${path}' and '${other}' are matched`,
        )
    }
    seen.push(path)
    insert(root, path.split('.'), value)
  }
  const writer = new DocumentWriter()
  const id = root.children.get('_id')
  if (id !== undefined) {
    root.children.delete('_id')
    write(writer, '_id', id)
  }
  for (const [name, child] of root.children) write(writer, name, child)
  return writer.finish()
}

/** @throws CommandError NotExactValueField (111) */
function fixes(path: string, paths: readonly string[]): boolean {
  const part = paths.find((each) => path.startsWith(`${each}.`))
  // The server's text has no space there.
  if (part !== undefined)
    throw new CommandError(
      'NotExactValueField',
      `field at '${part}' must be exactly specified, field at sub-path '${path}'found`,
    )
  return paths.some((each) => each === path || each.startsWith(`${path}.`))
}

function insert(branch: Branch, names: readonly string[], value: RawValue): void {
  const [name, ...rest] = names as [string, ...string[]]
  if (rest.length === 0) {
    branch.children.set(name, value)
    return
  }
  let child = branch.children.get(name)
  if (child === undefined || !('children' in child)) {
    child = { children: new Map() }
    branch.children.set(name, child)
  }
  insert(child, rest, value)
}

function write(writer: DocumentWriter, name: string, child: Branch | RawValue): void {
  if (!('children' in child)) {
    writer.value(name, child)
    return
  }
  writer.startDocument(name)
  for (const [childName, grandchild] of child.children) write(writer, childName, grandchild)
  writer.end()
}
