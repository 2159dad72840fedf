/** Server: query/sort_pattern.cpp, sort_key_generator.cpp. */
import {
  BsonType,
  CommandError,
  compareValues,
  encodeKeyString,
  FieldIterator,
  findField,
  isEmptyDocument,
  nullValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { toNumber } from '../values/arithmetic.js'
import { formatField } from '../values/format.js'
import { fieldPath, type FieldPath } from '../path/field-path.js'
import { keyTuplesOf } from '../path/key-tuples.js'

export interface SortPart {
  readonly path: FieldPath
  readonly descending: boolean
}

export interface SortPattern {
  readonly parts: readonly SortPart[]
  readonly paths: readonly FieldPath[]
  readonly descending: readonly boolean[]
  /** The direction of `$natural`, the collection's own order; null: another sort. */
  readonly natural: 1 | -1 | null
}

/** The server's limit. */
const maxParts = 32

/**
 * Reads `{a: 1, 'b.c': -1}`.
 * @throws CommandError 15974, 15975, BadValue (2) for malformed specifications
 */
export function parseSort(sort: Uint8Array): SortPattern {
  const parts: SortPart[] = []
  let natural: 1 | -1 | null = null
  for (const it = new FieldIterator(sort); it.next();) {
    const name = it.name()
    const direction = directionOf(name, it.value())
    if (name === '$natural') {
      natural = direction
      continue
    }
    if (name === '') throw new CommandError(40352, 'FieldPath cannot be constructed with empty string')
    if (name.startsWith('$'))
      throw new CommandError(
        16410,
        `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
      )
    if (name.startsWith('.') || name.endsWith('.') || name.includes('..'))
      throw new CommandError(
        name.endsWith('.') ? 40353 : 15998,
        name.endsWith('.') ? "FieldPath must not end with a '.'." : 'FieldPath field names may not be empty strings.',
      )
    parts.push({ path: fieldPath(name), descending: direction < 0 })
  }
  if (natural !== null && parts.length > 0)
    throw new CommandError('BadValue', '$natural sort cannot be set to a value other than -1 or 1.')
  if (parts.length > maxParts) throw new CommandError('BadValue', 'too many compound keys')
  const seen = new Set<string>()
  for (const { path } of parts) {
    if (seen.has(path.dotted))
      throw new CommandError(7472500, `$sort key must not contain duplicate keys (duplicate: '${path.dotted}')`)
    seen.add(path.dotted)
  }
  return { parts, paths: parts.map((part) => part.path), descending: parts.map((part) => part.descending), natural }
}

function directionOf(name: string, value: RawValue): 1 | -1 {
  if (value.type === BsonType.object) {
    const meta = findField(value.bytes, '$meta', value.start)
    if (meta === undefined || isEmptyDocument(value.bytes, value.start))
      throw new CommandError(17312, '$meta is the only expression supported by $sort right now')
    throw new CommandError(31138, `Illegal $meta sort: ${formatField('$meta', meta)}`)
  }
  if (!value.isNumber())
    throw new CommandError(15974, `Illegal key in $sort specification: ${formatField(name, value)}`)
  const direction = Math.trunc(toNumber(value))
  if (direction !== 1 && direction !== -1)
    throw new CommandError(15975, '$sort key ordering must be 1 (for ascending) or -1 (for descending)')
  return direction
}

const parallelArrays = () => new CommandError('BadValue', 'cannot sort with keys that are parallel arrays')

/**
 * A string whose order by `<` is the order of the sort. A document with arrays has the key that
 * sorts first: the smallest element ascending, the greatest descending. A missing value sorts as
 * null.
 * @throws CommandError BadValue (2) for parallel arrays
 */
export function sortKeyOf(document: Uint8Array, sort: SortPattern): string {
  const simple = simpleValues(document, sort)
  if (simple !== null) return encodeKeyString(simple, sort.descending)
  let lowest: string | undefined
  for (const tuple of keyTuplesOf(document, sort.paths, parallelArrays)) {
    const key = encodeKeyString(tuple, sort.descending)
    if (lowest === undefined || key < lowest) lowest = key
  }
  return lowest!
}

/**
 * The values of {@link sortKeyOf}, as `{$meta: "sortKey"}` shows them. A missing value is
 * `undefined`.
 * @param strings the collation, which decides which element of an array sorts first; absent: by
 *   bytes
 */
export function sortKeyValues(
  document: Uint8Array,
  sort: SortPattern,
  strings?: StringComparator,
): (RawValue | undefined)[] {
  return [...lowestTuple(document, sort, strings)]
}

/** As {@link sortKeyValues}, without a copy. */
export function lowestTuple(
  document: Uint8Array,
  sort: SortPattern,
  strings: StringComparator | undefined,
): readonly (RawValue | undefined)[] {
  const simple = simpleValues(document, sort)
  if (simple !== null) return simple
  let values: readonly (RawValue | undefined)[] | undefined
  for (const tuple of keyTuplesOf(document, sort.paths, parallelArrays))
    if (values === undefined || compareTuples(tuple, values, sort.descending, strings) < 0) values = tuple
  return values!
}

/** A missing value sorts as null. */
export function compareTuples(
  a: readonly (RawValue | undefined)[],
  b: readonly (RawValue | undefined)[],
  descending: readonly boolean[],
  strings: StringComparator | undefined,
): number {
  for (let i = 0; i < descending.length; i++) {
    const order = compareValues(a[i] ?? nullValue, b[i] ?? nullValue, strings)
    if (order !== 0) return descending[i] ? -order : order
  }
  return 0
}

export function sortKeyOfValues(values: readonly (RawValue | undefined)[], sort: SortPattern): string {
  return encodeKeyString(values, sort.descending)
}

/** One value per part; null: a path contains an array. */
function simpleValues(document: Uint8Array, sort: SortPattern): (RawValue | undefined)[] | null {
  const values: (RawValue | undefined)[] = []
  for (const { parts } of sort.paths) {
    let start = 0
    let value: RawValue | undefined
    for (let i = 0; i < parts.length; i++) {
      value = findField(document, parts[i]!.name, start)
      if (value === undefined) break
      if (value.type === BsonType.array) return null
      if (i < parts.length - 1 && value.type !== BsonType.object) {
        value = undefined
        break
      }
      start = value.start
    }
    values.push(value)
  }
  return values
}
