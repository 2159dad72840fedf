/** Server: index_descriptor.cpp. Manual page: reference/command/createIndexes. */
import {
  BsonType,
  DocumentWriter,
  FieldIterator,
  compareDocuments,
  findField,
  readInt32,
  type RawValue,
} from '@shardlab/bson'
import type { KeyPattern, Language } from '@shardlab/query'
import { normalizedProjection, wildcardPathsOf, type WildcardPaths } from '../wildcard/wildcard-spec.js'

export interface IndexSpec {
  /** `{ v, key, name, … }`, as stored and listed. */
  readonly document: Uint8Array
  readonly name: string
  readonly key: Uint8Array
  readonly pattern: KeyPattern
  readonly unique: boolean
  readonly sparse: boolean
  /** Rejects new duplicates, so that collMod can make the index unique later. */
  readonly prepareUnique: boolean
  readonly hidden: boolean
  readonly partialFilter: Uint8Array | null
  /** With all its fields; null: the simple collation. */
  readonly collation: Uint8Array | null
  readonly wildcard: WildcardPaths | null
}

/** As drivers name an index by default: `a_1_b_-1`. */
export function defaultIndexName(key: Uint8Array): string {
  const parts: string[] = []
  for (const it = new FieldIterator(key); it.next();) {
    const value = it.value()
    parts.push(it.name(), value.type === BsonType.string ? value.asString() : String(value.asNumber()))
  }
  return parts.join('_')
}

export function isIdKey(key: Uint8Array): boolean {
  const it = new FieldIterator(key)
  if (!it.next() || it.name() !== '_id' || !it.value().isNumber() || it.value().asNumber() !== 1) return false
  return !it.next()
}

export type IndexVersion = 1 | 2

/** Takes over the collection's collation, and the name of its `clusteredIndex`. */
export function idIndexSpec(options: Uint8Array, version: IndexVersion = 2): Uint8Array {
  const collation = findField(options, 'collation')
  const clusteredIndex = findField(options, 'clusteredIndex')
  const name =
    clusteredIndex === undefined ? undefined : findField(clusteredIndex.bytes, 'name', clusteredIndex.start)?.asString()
  const writer = new DocumentWriter(64)
    .int32('v', version)
    .startDocument('key')
    .int32('_id', 1)
    .end()
    .string('name', name ?? '_id_')
  if (clusteredIndex !== undefined) writer.bool('unique', true)
  if (collation !== undefined) writer.value('collation', collation)
  if (clusteredIndex !== undefined) writer.bool('clustered', true)
  return writer.finish()
}

/** @param document as `validateIndexSpec` returned it */
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

/** Ignores names. */
export function compareIndexSpecs(a: IndexSpec, b: IndexSpec, { indexIdentity }: Language): IndexComparison {
  if (compareDocuments(a.key, b.key) !== 0) return 'different'
  if (indexIdentity !== 'key' && !sameOption(a.collation, b.collation)) return 'different'
  const sameOptions =
    a.unique === b.unique &&
    a.sparse === b.sparse &&
    sameOption(a.partialFilter, b.partialFilter) &&
    sameOption(projectionOf(a), projectionOf(b))
  if (!sameOptions) return indexIdentity === 'options' ? 'different' : 'equivalent'
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
 * Options that must be equal but do not distinguish indexes, sorted by name. Not `hidden`, which
 * collMod changes.
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
