/** Owners of a collection according to the catalog. */
import { findField, toExtendedJson } from '@shardlab/bson'
import { generationOf, parseChunk, ShardKeyPattern } from '@shardlab/sharding'

/** A chunk with its bounds as documents and as KeyStrings. */
export interface OwnedRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly minKey: string
  readonly maxKey: string
  readonly shard: string
  /** Major and minor version as one comparable number. */
  readonly version: number
}

export interface CatalogTable {
  readonly ns: string
  /** Changes when the collection is created, refined or resharded. */
  readonly generation: string
  readonly pattern: ShardKeyPattern
  /** The shard key as events show it. */
  readonly keyText: string
  /** In key order. */
  readonly ranges: readonly OwnedRange[]
}

/** Builds the table from documents of config.collections and config.chunks. */
export function catalogTable(ns: string, collection: Uint8Array, chunks: readonly Uint8Array[]): CatalogTable {
  const key = findField(collection, 'key')!.slice()
  const pattern = ShardKeyPattern.parse(key, { compoundHashed: true })
  const ranges = chunks.map((document): OwnedRange => {
    const { min, max, shard, major, minor } = parseChunk(document)
    return {
      min,
      max,
      minKey: pattern.keyStringOfBound(min) ?? '',
      maxKey: pattern.keyStringOfBound(max) ?? '',
      shard,
      version: major * 2 ** 20 + minor,
    }
  })
  return {
    ns,
    generation: `${ns} ${generationOf(collection).join()}`,
    pattern,
    keyText: toExtendedJson(key),
    ranges: ranges.toSorted((a, b) => (a.minKey < b.minKey ? -1 : 1)),
  }
}

/** Shards that own chunks. */
export function ownersIn({ ranges }: CatalogTable): ReadonlySet<string> {
  return new Set(ranges.map(({ shard }) => shard))
}

/** The owner of a key, given as a KeyString. */
export function ownerOf({ ranges }: CatalogTable, key: string): string | undefined {
  return ranges.find(({ minKey, maxKey }) => minKey <= key && key < maxKey)?.shard
}
