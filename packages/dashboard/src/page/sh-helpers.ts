/** Helpers of mongosh, as the commands that they send to admin. */
import type { LiveCollection } from '../stream/deltas.js'

export interface ShHelper {
  readonly name: string
  /** The first release with the command; absent: all have it. */
  readonly since?: number
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

const helpers: readonly ShHelper[] = [
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
    since: 6,
    command: (given) => ({ moveRange: given.ns, min: bound(given, 0), toShard: lastShard(given) }),
  },
  { name: 'sh.addShardToZone', since: 3.4, command: (given) => ({ addShardToZone: lastShard(given), zone }) },
  { name: 'sh.removeShardFromZone', since: 3.4, command: (given) => ({ removeShardFromZone: lastShard(given), zone }) },
  {
    name: 'sh.updateZoneKeyRange',
    since: 3.4,
    command: (given) => ({ updateZoneKeyRange: given.ns, min: bound(given, 0), max: bound(given, 100), zone }),
  },
  {
    name: 'sh.removeRangeFromZone',
    since: 3.4,
    command: (given) => ({ updateZoneKeyRange: given.ns, min: bound(given, 0), max: bound(given, 100), zone: null }),
  },
  { name: 'sh.startBalancer', since: 3.4, command: () => ({ balancerStart: 1 }) },
  { name: 'sh.stopBalancer', since: 3.4, command: () => ({ balancerStop: 1 }) },
  { name: 'sh.balancerCollectionStatus', since: 4.4, command: ({ ns }) => ({ balancerCollectionStatus: ns }) },
  { name: 'sh.reshardCollection', since: 5, command: ({ ns }) => ({ reshardCollection: ns, key: { _id: 'hashed' } }) },
  {
    name: 'sh.moveCollection',
    since: 8,
    command: (given) => ({ moveCollection: given.ns, toShard: lastShard(given) }),
  },
  {
    name: 'sh.unshardCollection',
    since: 8,
    command: (given) => ({ unshardCollection: given.ns, toShard: lastShard(given) }),
  },
]

/** @param emulate the version of the cluster, such as `7.0` */
export const shHelpersOf = (emulate: string): readonly ShHelper[] =>
  helpers.filter(({ since = 0 }) => since <= Number(emulate))
