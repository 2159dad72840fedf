/**
 * Index specifications as they are stored, and when two of them describe the same index. Server:
 * index_descriptor.cpp. Manual page: reference/command/createIndexes.
 */
import {
  BsonType,
  DocumentWriter,
  FieldIterator,
  compareDocuments,
  findField,
  readInt32,
  type RawValue,
} from '@shardlab/bson'
import type { KeyPattern } from '@shardlab/query'
import { normalizedProjection, wildcardPathsOf, type WildcardPaths } from '../wildcard/wildcard-spec.js'

/** A parsed index specification. */
export interface IndexSpec {
  /** The specification as it is stored and listed: `{ v, key, name, … }`. */
  readonly document: Uint8Array
  readonly name: string
  readonly key: Uint8Array
  readonly pattern: KeyPattern
  readonly unique: boolean
  readonly sparse: boolean
  /** Rejects new duplicates, so that collMod can make the index unique. */
  readonly prepareUnique: boolean
  /** Maintained, but invisible to the planner. */
  readonly hidden: boolean
  readonly partialFilter: Uint8Array | null
  /** With all its fields; null: the simple collation. */
  readonly collation: Uint8Array | null
  /** Null: not a wildcard index. */
  readonly wildcard: WildcardPaths | null
}

/** `a_1_b_-1`: the name that drivers give an index by default. */
export function defaultIndexName(key: Uint8Array): string {
  const parts: string[] = []
  for (const it = new FieldIterator(key); it.next();) {
    const value = it.value()
    parts.push(it.name(), value.type === BsonType.string ? value.asString() : String(value.asNumber()))
  }
  return parts.join('_')
}

/** Whether this is the key pattern of `_id_`. */
export function isIdKey(key: Uint8Array): boolean {
  const it = new FieldIterator(key)
  if (!it.next() || it.name() !== '_id' || !it.value().isNumber() || it.value().asNumber() !== 1) return false
  return !it.next()
}

/**
 * The specification of `_id_` for a collection with these options: its collation, and its name if
 * it is clustered.
 */
export function idIndexSpec(options: Uint8Array): Uint8Array {
  const collation = findField(options, 'collation')
  const clusteredIndex = findField(options, 'clusteredIndex')
  const name =
    clusteredIndex === undefined ? undefined : findField(clusteredIndex.bytes, 'name', clusteredIndex.start)?.asString()
  const writer = new DocumentWriter(64)
    .int32('v', 2)
    .startDocument('key')
    .int32('_id', 1)
    .end()
    .string('name', name ?? '_id_')
  if (clusteredIndex !== undefined) writer.bool('unique', true)
  if (collation !== undefined) writer.value('collation', collation)
  if (clusteredIndex !== undefined) writer.bool('clustered', true)
  return writer.finish()
}

/** Reads a specification that `validateIndexSpec` returned. */
export function parseIndexSpec(document: Uint8Array): IndexSpec {
  const key = findField(document, 'key')!.slice()
  return {
    document,
    name: findField(document, 'name')!.asString(),
    key,
    pattern: patternOf(key),
    unique: isIdKey(key) || isSet(document, 'unique'),
    sparse: isSet(document, 'sparse'),
    prepareUnique: isSet(document, 'prepareUnique'),
    hidden: isSet(document, 'hidden'),
    partialFilter: findField(document, 'partialFilterExpression')?.slice() ?? null,
    collation: findField(document, 'collation')?.slice() ?? null,
    wildcard: wildcardPathsOf(document),
  }
}

/** Any positive number is ascending, any negative one descending. */
function patternOf(key: Uint8Array): KeyPattern {
  const fields: { path: string; direction: 1 | -1 | 'hashed' }[] = []
  for (const it = new FieldIterator(key); it.next();) {
    const value = it.value()
    fields.push({ path: it.name(), direction: value.isNumber() ? (isNegative(value) ? -1 : 1) : 'hashed' })
  }
  return fields
}

/** `different`: both may exist. `equivalent`: the same index with other options. */
export type IndexComparison = 'different' | 'equivalent' | 'identical'

/** Compares two stored specifications without their names. */
export function compareIndexSpecs(a: IndexSpec, b: IndexSpec): IndexComparison {
  if (compareDocuments(a.key, b.key) !== 0 || a.unique !== b.unique || a.sparse !== b.sparse) return 'different'
  if (!sameOption(a.partialFilter, b.partialFilter) || !sameOption(a.collation, b.collation)) return 'different'
  if (!sameOption(projectionOf(a), projectionOf(b))) return 'different'
  return compareDocuments(furtherOptions(a.document), furtherOptions(b.document)) === 0 ? 'identical' : 'equivalent'
}

function sameOption(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : compareDocuments(a, b) === 0
}

function projectionOf({ document }: IndexSpec): Uint8Array | null {
  const projection = findField(document, 'wildcardProjection')
  return projection === undefined ? null : normalizedProjection(projection.slice())
}

/**
 * Options that do not distinguish indexes but must be equal, sorted by name. `hidden` is not one of
 * them: collMod changes it.
 */
function furtherOptions(document: Uint8Array): Uint8Array {
  const passedOver = [
    'v',
    'key',
    'name',
    'unique',
    'sparse',
    'partialFilterExpression',
    'collation',
    'wildcardProjection',
    'hidden',
    'background',
    'dropDups',
  ]
  const fields: [string, RawValue][] = []
  for (const it = new FieldIterator(document); it.next();)
    if (!passedOver.includes(it.name())) fields.push([it.name(), it.value()])
  fields.sort(([a], [b]) => (a < b ? -1 : 1))
  const writer = new DocumentWriter()
  for (const [name, value] of fields) writer.value(name, value)
  return writer.finish()
}

/** Whether the option is present and true. */
export function isSet(document: Uint8Array, name: string): boolean {
  return findField(document, name)?.isTruthy() ?? false
}

function isNegative(value: RawValue): boolean {
  switch (value.type) {
    case BsonType.decimal128:
      return (value.bytes[value.start + 15]! & 0x80) !== 0
    case BsonType.int32:
      return readInt32(value.bytes, value.start) < 0
    default:
      return value.asNumber() < 0
  }
}
