import { DocumentWriter, keyStringFieldEnd, keyStringOfDocument, nullValue } from '@shardlab/bson'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection, Index } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../../shard-key/shard-key-prefixed-index.js'
import type { KeyRange } from '../key-range.js'

/** undefined: none begins with the shard key. */
export function rangeIndex(collection: Collection, shardKey: ShardKeyPattern): Index | undefined {
  return shardKeyPrefixedIndex(collection, shardKey.document)
}

/**
 * The record ids of a range in index order, each once; -1 at the end. The index must not change
 * meanwhile: use a snapshot when the loop writes documents.
 */
export class RangeCursor {
  readonly #cursor: ReturnType<Index['scanKeys']>
  readonly #seen: Set<number> | null

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

/** The part that is equal for documents with equal shard keys. */
export function shardKeyPart(key: string, index: Index, paths: readonly string[]): string {
  let end = 0
  for (let i = 0; i < paths.length; i++) end = keyStringFieldEnd(key, end, index.pattern[i]!.direction === -1)
  return key.slice(0, end)
}

/** Hashed fields are hashed. */
export function indexedShardKey(
  collection: Collection,
  index: Index,
  paths: readonly string[],
  recordId: number,
): Uint8Array {
  // All entries of a document have the same values in the shard key's fields.
  const [tuple] = index.tuplesOf(collection.get(recordId)!.document)
  const writer = new DocumentWriter(64)
  paths.forEach((path, i) => writer.value(path, tuple![i] ?? nullValue))
  return writer.finish()
}

export function countRange(index: Index, range: KeyRange, most = Number.POSITIVE_INFINITY): number {
  const cursor = new RangeCursor(index, range)
  let count = 0
  while (count < most && cursor.next() >= 0) count++
  return count
}
