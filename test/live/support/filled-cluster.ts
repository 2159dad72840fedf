/** Clusters with data of every kind, for tests that copy them. */
import { MongoClient, type Document } from 'mongodb'
import { ShardedCluster, type ClusterOptions } from 'shardlab'
import type { Test } from 'tap'
import type { Loose } from '../../support/clusters.js'
import { RawClient } from '../../support/raw-client.js'

export const quiet = { shards: 3, runtime: 'inline', balancerRoundIntervalMs: 2 ** 31 - 1 } as const

export interface World {
  readonly cluster: ShardedCluster
  readonly client: MongoClient
}

/** Connects a client; the cluster and the client end with the test. */
export async function connected(t: Test, cluster: ShardedCluster): Promise<World> {
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  return { cluster, client }
}

export const start = async (t: Test, options: ClusterOptions = {}): Promise<World> =>
  connected(t, await ShardedCluster.start({ ...quiet, ...options }))
export const forked = async (t: Test, { cluster }: World): Promise<World> => connected(t, await cluster.fork())
export const collectionOf = ({ client }: World, name = 'things'): Loose => client.db('app').collection<any>(name)
export const admin = ({ client }: World, command: Document): Promise<Document> => client.db('admin').command(command)
export const idsOf = async (things: Loose, filter: Document = {}): Promise<unknown[]> =>
  (await things.find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id)

/**
 * Fills app.things, sharded by `x`, with ten documents on each of the three shards; and creates an
 * index, a view and a capped collection.
 */
export async function fill(world: World): Promise<void> {
  await admin(world, { enableSharding: 'app', primaryShard: 'shard01' })
  await admin(world, { shardCollection: 'app.things', key: { x: 1 } })
  for (const x of [10, 20]) await admin(world, { split: 'app.things', middle: { x } })
  await admin(world, { movePrimary: 'app', to: 'shard01' }).catch(() => {})
  for (const [x, to] of [
    [0, 'shard01'],
    [10, 'shard02'],
    [20, 'shard03'],
  ] as const)
    await admin(world, { moveChunk: 'app.things', find: { x }, to, _waitForDelete: true }).catch((error: unknown) => {
      if (!/that chunk is already on/.test(String(error))) throw error
    })
  const things = collectionOf(world)
  await things.insertMany(Array.from({ length: 30 }, (_, i) => ({ _id: i, x: i, y: i % 3, tags: ['a', `b${i}`] })))
  await things.createIndex({ y: 1 })
  await things.createIndex({ tags: 1 })
  await world.client.db('app').createCollection('seen', { viewOn: 'things', pipeline: [{ $match: { y: 1 } }] })
  await world.client.db('app').createCollection('last', { capped: true, size: 4096, max: 3 })
  for (let _id = 0; _id < 5; _id++) await collectionOf(world, 'last').insertOne({ _id } as never)
  await collectionOf(world, 'unique').createIndex({ email: 1 }, { unique: true })
  await collectionOf(world, 'unique').insertOne({ email: 'a' })
}

export async function placesOf({ cluster }: World): Promise<Record<string, unknown[]>> {
  const places: Record<string, unknown[]> = {}
  for (const { id, uri } of cluster.shards) {
    const direct = await MongoClient.connect(uri)
    places[id] = await idsOf(direct.db('app').collection<any>('things'))
    await direct.close()
  }
  return places
}

/** A raw connection to a router. */
export async function through(t: Test, { cluster }: World, router: number): Promise<RawClient> {
  const raw = await RawClient.connect(cluster.mongos[router]!)
  t.teardown(() => raw.close())
  return raw
}
