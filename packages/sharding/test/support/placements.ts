import {
  CommandError,
  decode,
  encode,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  type Document,
} from '@shardlab/bson'
import { compileFilter, type EvaluationContext, type Filter } from '@shardlab/query'
import { applyPlacementAnswer, ShardKeyPattern, type CollectionPlacement, type RoutingTable } from '../../src/index.js'

export const context: EvaluationContext = { now: () => 1_700_000_000_000, random: () => 0.5 }
export const epoch = new ObjectId('64b7f0000000000000000001')
export const uuid = new UUID('0123456789abcdef0123456789abcdef')

export const min = new MinKey()
export const max = new MaxKey()
export const long = (value: bigint | number | string) => Long.fromString(String(value))

export function filterOf(document: Document, over: Partial<EvaluationContext> = {}): Filter {
  return compileFilter(encode(document), { ...context, ...over })
}

export function patternOf(key: Document, compoundHashed = true): ShardKeyPattern {
  return ShardKeyPattern.parse(encode(key), { compoundHashed, refuseDollars: compoundHashed })
}

export function collectionDocument(key: Document, over: Document = {}): Uint8Array {
  return encode({
    _id: 'db.c',
    lastmodEpoch: epoch,
    timestamp: new Timestamp({ t: 100, i: 1 }),
    uuid,
    key,
    unique: false,
    ...over,
  })
}

export function chunkDocument(from: Document, to: Document, shard: string, major = 1, minor = 0): Uint8Array {
  return encode({
    _id: new ObjectId('64b7f0000000000000000002'),
    uuid,
    min: from,
    max: to,
    shard,
    lastmod: new Timestamp({ t: major, i: minor }),
  })
}

/** Ascending cuts; the i-th chunk is on the i-th shard of the list (by default `s0`, `s1`, …). */
export function placementOf(
  key: Document,
  cuts: readonly Document[],
  shards?: readonly string[],
  over: Document = {},
): CollectionPlacement {
  const shardKey = patternOf(key)
  const bounds = [decode(shardKey.globalMin), ...cuts, decode(shardKey.globalMax)]
  const chunks = bounds.slice(1).map((to, i) => chunkDocument(bounds[i]!, to, shards?.[i] ?? `s${i}`, 1, i))
  return applyPlacementAnswer('db.c', null, { collection: collectionDocument(key, over), chunks, full: true })!
}

/** Null: the function does not throw. Rethrows errors that are not CommandErrors. */
export function failure(action: () => unknown): { code: number; message: string } | null {
  try {
    action()
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code, message: error.message }
    throw error
  }
  return null
}

/** `min..max shard major|minor`. */
export function linesOf(table: RoutingTable): string[] {
  return [...table.chunks()].map((chunk) => `${chunk.min}..${chunk.max} ${chunk.shard} ${chunk.major}|${chunk.minor}`)
}
