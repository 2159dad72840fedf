/** Documents of config.chunks as chunks of the live stream. */
import { findField, toExtendedJson } from '@shardlab/bson'
import type { LiveChunk } from '@shardlab/dashboard'
import { hexOfKey, parseChunk, type ShardKeyPattern } from '@shardlab/sharding'

export interface ReadChunk {
  readonly chunk: LiveChunk
  readonly toKey: string
}

export function readChunks(pattern: ShardKeyPattern, documents: readonly Uint8Array[]): ReadChunk[] {
  return documents.flatMap((document): ReadChunk[] => {
    const { min, max, shard } = parseChunk(document)
    const [from, to] = [pattern.keyStringOfBound(min), pattern.keyStringOfBound(max)]
    // Clients can write anything into config.chunks.
    if (from === undefined || to === undefined) return []
    const jumbo = findField(document, 'jumbo')?.isTruthy() === true
    const chunk = { key: hexOfKey(from), min: toExtendedJson(min), shard, ...(jumbo ? { jumbo } : {}) }
    return [{ chunk, toKey: hexOfKey(to) }]
  })
}

/**
 * The parts of a chunk that was split follow each other: they are one change.
 * @param chunks oldest version first
 */
export function withNeighbours(chunks: readonly ReadChunk[]): ReadChunk[][] {
  const changes: ReadChunk[][] = []
  for (const each of chunks) {
    const last = changes.at(-1)
    if (last?.at(-1)!.toKey === each.chunk.key) last.push(each)
    else changes.push([each])
  }
  return changes
}

/**
 * The chunks that remain when each replaces those before it. All have been read, but not at one
 * time: a chunk that was read first can have been merged, moved or split since.
 * @param chunks oldest version first @returns in the order of their keys
 */
export function latestChunks(chunks: readonly ReadChunk[]): ReadChunk[] {
  const ages = new Map(chunks.map(({ chunk }, age) => [chunk.key, age]))
  const newest = chunks.filter(({ chunk }, age) => ages.get(chunk.key) === age)
  newest.sort((a, b) => (a.chunk.key < b.chunk.key ? -1 : 1))
  const latest: ReadChunk[] = []
  for (const each of newest) {
    const before = latest.at(-1)
    const isMerged =
      before !== undefined && each.chunk.key < before.toKey && ages.get(each.chunk.key)! < ages.get(before.chunk.key)!
    if (!isMerged) latest.push(each)
  }
  return latest
}
