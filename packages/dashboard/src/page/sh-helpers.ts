/** Helpers of mongosh, as the commands that they send to admin. */
import type { LiveCollection } from '../stream/deltas.js'

export interface ShHelper {
  readonly name: string
  /** Releases lack some of the commands: the server says so. */
  readonly command: (given: HelperInput) => object
}

export interface HelperInput {
  readonly ns: string
  /** null: the collection is not sharded. */
  readonly collection: LiveCollection | null
  readonly shards: readonly string[]
}

const dbOf = ({ ns }: HelperInput): string => ns.split('.')[0]!

/** Of an unsharded collection the key that it may get. */
const keyOf = ({ collection }: HelperInput): Readonly<Record<string, unknown>> =>
  collection === null ? { _id: 1 } : (JSON.parse(collection.shardKey) as Record<string, unknown>)

/** A bound to start from. */
function bound(given: HelperInput, value: number): object {
  return Object.fromEntries(Object.keys(keyOf(given)).map((name) => [name, value]))
}

const lastShard = ({ shards }: HelperInput): string => shards.at(-1) ?? 'shard01'
const zone = 'EU'

export const shHelpers: readonly ShHelper[] = [
  { name: 'sh.enableSharding', command: (given) => ({ enableSharding: dbOf(given) }) },
  { name: 'sh.shardCollection', command: (given) => ({ shardCollection: given.ns, key: keyOf(given) }) },
  { name: 'sh.splitAt', command: (given) => ({ split: given.ns, middle: bound(given, 0) }) },
  { name: 'sh.splitFind', command: (given) => ({ split: given.ns, find: bound(given, 0) }) },
  {
    name: 'sh.moveChunk',
    command: (given) => ({ moveChunk: given.ns, find: bound(given, 0), to: lastShard(given) }),
  },
  {
    name: 'sh.moveRange',
    command: (given) => ({ moveRange: given.ns, min: bound(given, 0), toShard: lastShard(given) }),
  },
  { name: 'sh.addShardToZone', command: (given) => ({ addShardToZone: lastShard(given), zone }) },
  { name: 'sh.removeShardFromZone', command: (given) => ({ removeShardFromZone: lastShard(given), zone }) },
  {
    name: 'sh.updateZoneKeyRange',
    command: (given) => ({ updateZoneKeyRange: given.ns, min: bound(given, 0), max: bound(given, 100), zone }),
  },
  {
    name: 'sh.removeRangeFromZone',
    command: (given) => ({ updateZoneKeyRange: given.ns, min: bound(given, 0), max: bound(given, 100), zone: null }),
  },
  { name: 'sh.startBalancer', command: () => ({ balancerStart: 1 }) },
  { name: 'sh.stopBalancer', command: () => ({ balancerStop: 1 }) },
  { name: 'sh.balancerCollectionStatus', command: ({ ns }) => ({ balancerCollectionStatus: ns }) },
  { name: 'sh.reshardCollection', command: ({ ns }) => ({ reshardCollection: ns, key: { _id: 'hashed' } }) },
  { name: 'sh.moveCollection', command: (given) => ({ moveCollection: given.ns, toShard: lastShard(given) }) },
  { name: 'sh.unshardCollection', command: (given) => ({ unshardCollection: given.ns, toShard: lastShard(given) }) },
]
