/** A range of shard keys. Server: chunk_range.h. */
import {
  BsonType,
  FieldIterator,
  findField,
  keyStringOfDocument,
  minKeyValue,
  type DocumentWriter,
  type RawValue,
} from '@shardlab/bson'
import type { CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'

/**
 * `min` is inclusive, `max` exclusive; documents with the fields of the shard key, hashed ones
 * hashed.
 */
export interface KeyRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
}

/** A range that caches the KeyStrings of its bounds, for repeated comparisons. */
export class KeyedRange implements KeyRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
  #keys: readonly [low: string, high: string] | null = null

  constructor(min: Uint8Array, max: Uint8Array) {
    this.min = min
    this.max = max
  }

  get keys(): readonly [low: string, high: string] {
    return (this.#keys ??= [keyOf(this.min), keyOf(this.max)])
  }
}

/** Writes a field `{ min, max }`. */
export function writeRange(writer: DocumentWriter, name: string, { min, max }: KeyRange): DocumentWriter {
  return writer.startDocument(name).document('min', min).document('max', max).end()
}

/** Whether the value has the form that {@link writeRange} writes; documents of clients may not. */
export function isRange(value: RawValue | undefined): value is RawValue {
  if (value?.type !== BsonType.object) return false
  const { bytes, start } = value
  return (
    findField(bytes, 'min', start)?.type === BsonType.object && findField(bytes, 'max', start)?.type === BsonType.object
  )
}

/** Reads a value that passed {@link isRange}. */
export function parseRange(range: RawValue): KeyRange {
  return new KeyedRange(
    findField(range.bytes, 'min', range.start)!.slice(),
    findField(range.bytes, 'max', range.start)!.slice(),
  )
}

/**
 * The bounds as KeyStrings: two ranges of a key pattern overlap when each begins below the other's
 * end.
 */
export function keysOf(range: KeyRange): readonly [low: string, high: string] {
  return range instanceof KeyedRange ? range.keys : [keyOf(range.min), keyOf(range.max)]
}

/**
 * The owner of a range. When the shard key was refined since, the bounds lack the new fields, which
 * are MinKey in chunks.
 * Server: migrationutil::extendOrTruncateBoundsForMetadata.
 */
export function ownerOfRange({ table, shardKey }: CollectionPlacement, { min }: KeyRange): string {
  return table.shardOf(keyOf(shardKey.extendBound(min, minKeyValue)))
}

/**
 * A predicate: whether the key of a document is in the range. False for a document with an array in
 * its key.
 */
export function membershipOf(range: KeyRange, shardKey: ShardKeyPattern): (document: Uint8Array) => boolean {
  const [low, high] = keysOf(range)
  return (document) => {
    const key = shardKey.extract(document)
    return typeof key !== 'string' && key.keyString >= low && key.keyString < high
  }
}

function keyOf(bound: Uint8Array): string {
  return keyStringOfDocument(bound)
}

/**
 * Whether the bound has the fields of the pattern, in order.
 * Server: CollectionMetadata::isValidKey.
 */
export function isBoundOf(shardKey: ShardKeyPattern, bound: Uint8Array): boolean {
  const { paths } = shardKey
  let count = 0
  for (const it = new FieldIterator(bound); it.next(); count++) if (it.name() !== paths[count]) return false
  return count === paths.length
}
