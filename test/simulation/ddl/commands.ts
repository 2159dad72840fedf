/** Random DDL and sharding commands on a few namespaces of two databases. */
import type { Random } from '@shardlab/actor'
import { MinKey, type Document } from '@shardlab/bson'

export const namespaces = ['a.x', 'a.y', 'b.x'] as const
export const databases = ['a', 'b'] as const
export const shards = ['shard01', 'shard02', 'shard03'] as const

const keys: readonly Document[] = [{ k: 1 }, { k: 'hashed' }, { _id: 1 }]

/** More frequent commands are listed repeatedly. */
const makers: readonly ((random: Random) => Document)[] = [
  (random) => ({ shardCollection: ns(random), key: of(random, keys), $db: 'admin' }),
  (random) => ({ shardCollection: ns(random), key: of(random, keys), $db: 'admin' }),
  (random) => ({ shardCollection: ns(random), key: { k: 1 }, $db: 'admin' }),
  (random) => ({ dropDatabase: 1, $db: of(random, databases) }),
  (random) => ({ dropDatabase: 1, $db: of(random, databases) }),
  (random) => onCollection(random, 'drop', {}),
  (random) => onCollection(random, 'create', {}),
  (random) => onCollection(random, 'createIndexes', { indexes: [{ key: { k: 1, m: 1 }, name: 'km' }] }),
  (random) => onCollection(random, 'dropIndexes', { index: 'km' }),
  (random) => onCollection(random, 'collMod', { validationLevel: of(random, ['off', 'strict']) }),
  (random) => ({ enableSharding: of(random, databases), $db: 'admin' }),
  (random) => ({ movePrimary: of(random, databases), to: of(random, shards), $db: 'admin' }),
  (random) => ({ movePrimary: of(random, databases), to: of(random, shards), $db: 'admin' }),
  (random) => ({
    renameCollection: ns(random),
    to: of(random, ['a.x', 'a.y', 'b.x', 'a.z']),
    dropTarget: random.chance(1, 2),
    $db: 'admin',
  }),
  (random) => ({ refineCollectionShardKey: ns(random), key: { k: 1, m: 1 }, $db: 'admin' }),
  (random) => ({ reshardCollection: ns(random), key: { m: 1 }, numInitialChunks: 2, $db: 'admin' }),
  (random) => ({ moveCollection: ns(random), toShard: of(random, shards), $db: 'admin' }),
  (random) => ({ unshardCollection: ns(random), toShard: of(random, shards), $db: 'admin' }),
  (random) => ({ split: ns(random), middle: { k: random.below(100) }, $db: 'admin' }),
  (random) => ({ moveChunk: ns(random), find: { k: random.below(100) }, to: of(random, shards), $db: 'admin' }),
  (random) => ({ moveChunk: ns(random), find: { k: random.below(100) }, to: of(random, shards), $db: 'admin' }),
  (random) => ({ mergeChunks: ns(random), bounds: [{ k: new MinKey() }, { k: random.below(100) }], $db: 'admin' }),
]

export function randomCommand(random: Random): Document {
  return of(random, makers)(random)
}

function onCollection(random: Random, command: string, rest: Document): Document {
  const [db, name] = ns(random).split('.') as [string, string]
  return { [command]: name, ...rest, $db: db }
}

function ns(random: Random): string {
  return of(random, namespaces)
}

function of<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!
}

/** Names of collections and databases whose documents the command removes or renames. */
export function destroyedBy(command: Document): string[] {
  const db = command['$db'] as string
  if ('dropDatabase' in command) return [db]
  if ('drop' in command) return [`${db}.${command['drop']}`]
  if ('renameCollection' in command) return [command['renameCollection'], command['to']]
  return []
}
