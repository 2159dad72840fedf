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

/** From `min` on and below `max`; both documents of the shard key's fields, hashed ones hashed. */
export interface KeyRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
}

/** A range whose bounds are compared again and again: their KeyStrings are made once, when somebody asks for them. */
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

/** `{ min, max }` in a document. */
export function writeRange(writer: DocumentWriter, name: string, { min, max }: KeyRange): DocumentWriter {
  return writer.startDocument(name).document('min', min).document('max', max).end()
}

/** Is it what {@link writeRange} writes? Clients may write something else. */
export function isRange(value: RawValue | undefined): value is RawValue {
  if (value?.type !== BsonType.object) return false
  const { bytes, start } = value
  return (
    findField(bytes, 'min', start)?.type === BsonType.object && findField(bytes, 'max', start)?.type === BsonType.object
  )
}

/** Reads what {@link writeRange} wrote. */
export function parseRange(range: RawValue): KeyRange {
  return new KeyedRange(
    findField(range.bytes, 'min', range.start)!.slice(),
    findField(range.bytes, 'max', range.start)!.slice(),
  )
}

/** The bounds of a range as KeyStrings: two ranges of one key pattern have keys in common when each begins below the other's end. */
export function keysOf(range: KeyRange): readonly [low: string, high: string] {
  return range instanceof KeyedRange ? range.keys : [keyOf(range.min), keyOf(range.max)]
}

/**
 * Who owns a range now. The shard key may have been refined since the range was named: then its bounds lack the new fields, for which chunks
 * have MinKey. Server: migrationutil::extendOrTruncateBoundsForMetadata.
 */
export function ownerOfRange({ table, shardKey }: CollectionPlacement, { min }: KeyRange): string {
  return table.shardOf(keyOf(shardKey.extendBound(min, minKeyValue)))
}

/** A test of documents: is their key in the range? One without a key (an array in it) is not. */
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

/** Has the bound the fields of the pattern, in its order? Server: CollectionMetadata::isValidKey. */
export function isBoundOf(shardKey: ShardKeyPattern, bound: Uint8Array): boolean {
  const { paths } = shardKey
  let count = 0
  for (const it = new FieldIterator(bound); it.next(); count++) if (it.name() !== paths[count]) return false
  return count === paths.length
}
