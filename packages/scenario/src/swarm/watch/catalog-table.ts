import { findField, toExtendedJson } from '@shardlab/bson'
import { generationOf, parseChunk, ShardKeyPattern } from '@shardlab/sharding'

/** Bounds as documents and as KeyStrings. */
export interface OwnedRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly minKey: string
  readonly maxKey: string
  readonly shard: string
  /** Major and minor as one comparable number. */
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

/** From documents of config.collections and config.chunks. */
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

export function ownersIn({ ranges }: CatalogTable): ReadonlySet<string> {
  return new Set(ranges.map(({ shard }) => shard))
}

/** @param key a KeyString */
export function ownerOf({ ranges }: CatalogTable, key: string): string | undefined {
  return ranges.find(({ minKey, maxKey }) => minKey <= key && key < maxKey)?.shard
}
