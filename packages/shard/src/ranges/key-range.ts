/** A range of shard keys, and the documents of a collection in it. Server: chunk_range.h. */
import {
  BsonType,
  DocumentWriter,
  FieldIterator,
  findField,
  keyStringFieldEnd,
  keyStringOfDocument,
  minKeyValue,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import type { CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection, Index } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../shard-key/shard-key-prefixed-index.js'

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

/** The index over which a range is read; undefined when the collection has none that begins with the shard key. */
export function rangeIndex(collection: Collection, shardKey: ShardKeyPattern): Index | undefined {
  return shardKeyPrefixedIndex(collection, shardKey.document)
}

/**
 * The record ids of a range in the order of the shard key, each once; -1 at the end. Writers may go on only on a snapshot's live twin: the
 * index must not change meanwhile.
 */
export class RangeCursor {
  readonly #cursor: ReturnType<Index['scanKeys']>
  readonly #seen: Set<number> | null

  /** @param reverse from the upper end on; default false */
  constructor(index: Index, { min, max }: KeyRange, reverse = false) {
    const directions = index.pattern.map(({ direction }) => direction === -1)
    this.#cursor = index.scanKeys(keyStringOfDocument(min, directions), keyStringOfDocument(max, directions), reverse)
    this.#seen = index.multikey ? new Set() : null
  }

  /** The index key of the last record. */
  get key(): string {
    return this.#cursor.key
  }

  next(): number {
    for (;;) {
      const recordId = this.#cursor.next()
      if (recordId < 0 || this.#seen === null) return recordId
      if (this.#seen.has(recordId)) continue
      this.#seen.add(recordId)
      return recordId
    }
  }
}

/** The shard key's part of an index key: the same for documents with the same shard key. */
export function shardKeyPart(key: string, index: Index, { paths }: ShardKeyPattern): string {
  let end = 0
  for (let i = 0; i < paths.length; i++) end = keyStringFieldEnd(key, end, index.pattern[i]!.direction === -1)
  return key.slice(0, end)
}

/** The shard key of a document as an index has it: hashed fields hashed. */
export function indexedShardKey(
  collection: Collection,
  index: Index,
  { paths }: ShardKeyPattern,
  recordId: number,
): Uint8Array {
  // All entries of a document agree in the fields of the shard key.
  const [tuple] = index.tuplesOf(collection.get(recordId)!.document)
  const writer = new DocumentWriter(64)
  paths.forEach((path, i) => writer.value(path, tuple![i] ?? nullValue))
  return writer.finish()
}

/** How many documents are in the range, counted up to `most`. */
export function countRange(index: Index, range: KeyRange, most = Number.POSITIVE_INFINITY): number {
  const cursor = new RangeCursor(index, range)
  let count = 0
  while (count < most && cursor.next() >= 0) count++
  return count
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
