/** Server: chunk_range.h. */
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

/** Bounds are documents of the shard key's fields, hashed ones hashed; `max` is exclusive. */
export interface KeyRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
}

/** Caches the KeyStrings of its bounds, for repeated comparisons. */
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

export function writeRange(writer: DocumentWriter, name: string, { min, max }: KeyRange): DocumentWriter {
  return writer.startDocument(name).document('min', min).document('max', max).end()
}

/** Whether {@link writeRange} may have written the value; documents of clients may have others. */
export function isRange(value: RawValue | undefined): value is RawValue {
  if (value?.type !== BsonType.object) return false
  const { bytes, start } = value
  return (
    findField(bytes, 'min', start)?.type === BsonType.object && findField(bytes, 'max', start)?.type === BsonType.object
  )
}

/** @param range must pass {@link isRange} */
export function parseRange(range: RawValue): KeyRange {
  return new KeyedRange(
    findField(range.bytes, 'min', range.start)!.slice(),
    findField(range.bytes, 'max', range.start)!.slice(),
  )
}

/** The bounds as KeyStrings: ranges of a pattern overlap when each begins below the other's end. */
export function keysOf(range: KeyRange): readonly [low: string, high: string] {
  return range instanceof KeyedRange ? range.keys : [keyOf(range.min), keyOf(range.max)]
}

/**
 * If the shard key was refined, the bounds lack the new fields, which are MinKey in chunks.
 * Server: migrationutil::extendOrTruncateBoundsForMetadata.
 */
export function ownerOfRange({ table, shardKey }: CollectionPlacement, { min }: KeyRange): string {
  return table.shardOf(keyOf(shardKey.extendBound(min, minKeyValue)))
}

/** The predicate is false for a document with an array in its key. */
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

/** Whether the bound has the pattern's fields, in order. Server: CollectionMetadata::isValidKey. */
export function isBoundOf(shardKey: ShardKeyPattern, bound: Uint8Array): boolean {
  const { paths } = shardKey
  let count = 0
  for (const it = new FieldIterator(bound); it.next(); count++) if (it.name() !== paths[count]) return false
  return count === paths.length
}
