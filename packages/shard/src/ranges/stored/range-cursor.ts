/** The documents of a range, in the order of an index. */
import { DocumentWriter, keyStringFieldEnd, keyStringOfDocument, nullValue } from '@shardlab/bson'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection, Index } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../../shard-key/shard-key-prefixed-index.js'
import type { KeyRange } from '../key-range.js'

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
export function shardKeyPart(key: string, index: Index, paths: readonly string[]): string {
  let end = 0
  for (let i = 0; i < paths.length; i++) end = keyStringFieldEnd(key, end, index.pattern[i]!.direction === -1)
  return key.slice(0, end)
}

/** The shard key of a document as an index has it: hashed fields hashed. */
export function indexedShardKey(
  collection: Collection,
  index: Index,
  paths: readonly string[],
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
