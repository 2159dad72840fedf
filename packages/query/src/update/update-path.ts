import { CommandError } from '@shardlab/bson'
import { isArrayIndex } from '../path/field-path.js'

export type UpdatePart =
  | { readonly kind: 'field'; readonly name: string; readonly index: number | null }
  /** `$`: the element that the query matched. */
  | { readonly kind: 'matched' }
  /** `$[]` and `$[id]`. */
  | { readonly kind: 'elements'; readonly filter: string | null }

export interface UpdatePath {
  readonly dotted: string
  readonly names: readonly string[]
  /** The whole path in UTF-8. */
  readonly nameBytes: Uint8Array
  readonly parts: readonly UpdatePart[]
}

/**
 * @param allowsFilters false: `$[…]` is an ordinary name
 * @throws CommandError EmptyFieldName (56) for empty parts, BadValue for a positional part at the
 *   start
 */
export function parseUpdatePath(dotted: string, allowsFilters = true): UpdatePath {
  if (dotted === '') throw new CommandError('EmptyFieldName', 'An empty update path is not valid.')
  const names = dotted.split('.')
  const parts = names.map((name, at): UpdatePart => {
    if (name === '')
      throw new CommandError(
        'EmptyFieldName',
        `The update path '${dotted}' contains an empty field name, which is not allowed.`,
      )
    if (name === '$' || (allowsFilters && name.startsWith('$[') && name.endsWith(']'))) {
      if (at === 0)
        throw new CommandError(
          'BadValue',
          `Cannot have ${name === '$' ? "positional (i.e. '$')" : "array filter identifier (i.e. '$[<id>]')"} element in the first position in path '${dotted}'`,
        )
      return name === '$'
        ? { kind: 'matched' }
        : { kind: 'elements', filter: name === '$[]' ? null : name.slice(2, -1) }
    }
    return { kind: 'field', name, index: isArrayIndex(name) ? Number(name) : null }
  })
  if (parts.filter((part) => part.kind === 'matched').length > 1)
    throw new CommandError('BadValue', `Too many positional (i.e. '$') elements found in path '${dotted}'`)
  return { dotted, names, nameBytes: Buffer.from(dotted, 'utf8'), parts }
}

export function withPosition(path: UpdatePath, position: number): UpdatePath {
  return path.names.includes('$')
    ? parseUpdatePath(path.names.map((name) => (name === '$' ? String(position) : name)).join('.'))
    : path
}

/**
 * Names in byte order, array indexes by number: the order in which new fields are added. All `$[]`
 * and `$[id]` are equal.
 */
export function comparePaths(a: UpdatePath, b: UpdatePath): number {
  return compareParts(a, b, true)
}

/** As {@link comparePaths}, with array indexes as names. */
export function compareNames(a: UpdatePath, b: UpdatePath): number {
  return compareParts(a, b, false)
}

function compareParts(a: UpdatePath, b: UpdatePath, indexesAreNumbers: boolean): number {
  for (let i = 0; i < a.names.length && i < b.names.length; i++) {
    const left = a.names[i]!
    const right = b.names[i]!
    if (left === right || (a.parts[i]!.kind === 'elements' && b.parts[i]!.kind === 'elements')) continue
    if (indexesAreNumbers && isArrayIndex(left) && isArrayIndex(right)) return Number(left) - Number(right)
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  }
  return a.names.length - b.names.length
}

/**
 * Checks the paths in the order given.
 * @throws CommandError ConflictingUpdateOperators (40) when one path equals or contains another,
 *   or when two paths treat the same value as different containers
 */
export function checkConflicts(paths: readonly UpdatePath[]): void {
  const conflict = findConflict(paths)
  if (conflict !== null)
    throw new CommandError(
      'ConflictingUpdateOperators',
      `Updating the path '${conflict.path.dotted}' would create a conflict at '${conflict.prefix}'`,
    )
}

/** As {@link checkConflicts}, in the words of 2.6. Null: none. */
export function conflictOf(paths: readonly UpdatePath[]): CommandError | null {
  const conflict = findConflict(paths)
  if (conflict === null) return null
  const { path, prefix } = conflict
  const other = paths.find(({ dotted }) => dotted === prefix || dotted.startsWith(`${prefix}.`))!
  return new CommandError(
    'ConflictingUpdateOperators',
    `Cannot update '${other.dotted}' and '${path.dotted}' at the same time`,
  )
}

function findConflict(paths: readonly UpdatePath[]): { path: UpdatePath; prefix: string } | null {
  const seen = new Map<string, 'leaf' | 'fields' | 'elements'>()
  for (const path of paths) {
    const { names, parts } = path
    for (let length = 1; length <= names.length; length++) {
      const prefix = names.slice(0, length).join('.')
      const before = seen.get(prefix)
      const kind = length === names.length ? 'leaf' : parts[length]!.kind === 'elements' ? 'elements' : 'fields'
      if (before !== undefined && (before === 'leaf' || before !== kind)) return { path, prefix }
      seen.set(prefix, kind)
    }
  }
  return null
}
