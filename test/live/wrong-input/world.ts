/**
 * A cluster with a collection of each kind, and all data that a refused command must not change.
 */
import { MongoClient, type Document, type MongoServerError } from 'mongodb'
import { encode, findField } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../../support/raw-client.js'
import type { Answer, TriedVersion } from './cases.js'

const catalogCollections = [
  'shards',
  'databases',
  'collections',
  'chunks',
  'tags',
  'settings',
  'version',
  'queryAnalyzers',
] as const

const batchMax = 10_000

/**
 * Two shards, `shard01` the primary of `app` and in zone `east`, `shard02` in zone `west`. `app`
 * has:
 * - `c`: {k: 1}, chunks from 10 (on shard02) and 20, 0 to 10 in zone `east`, array index `k_1_n_1`
 * - `compound`: {a: 1, b: 1}, with a chunk from {5, 5}
 * - `hashed`: {h: 'hashed'}
 * - `empty`: {k: 1}
 * - `plain`: documents, unique index `u_1` and array index `m_1`
 * - `capped`, and `view` on `c`
 */
export class World {
  readonly version: TriedVersion
  readonly cluster: ShardedCluster
  readonly client: MongoClient
  readonly #shards: readonly MongoClient[]
  readonly #routerBytes: RawClient
  readonly #shardBytes: readonly RawClient[]

  private constructor(
    version: TriedVersion,
    cluster: ShardedCluster,
    [client, ...shards]: readonly MongoClient[],
    [routerBytes, ...shardBytes]: readonly RawClient[],
  ) {
    this.version = version
    this.cluster = cluster
    this.client = client!
    this.#shards = shards
    this.#routerBytes = routerBytes!
    this.#shardBytes = shardBytes
  }

  static async start(version: TriedVersion): Promise<World> {
    const cluster = await ShardedCluster.start({
      shards: 2,
      runtime: 'inline',
      emulate: version,
      findReplicaSetHostTimeoutMs: 100,
    })
    const uris = [cluster.uri, ...cluster.shards.map(({ uri }) => uri)]
    const world = new World(
      version,
      cluster,
      await Promise.all(uris.map((uri) => MongoClient.connect(uri))),
      await Promise.all(uris.map((uri) => RawClient.connect(new URL(uri).host))),
    )
    await world.#populate()
    return world
  }

  async stop(): Promise<void> {
    await Promise.all([this.client, ...this.#shards].map((client) => client.close()))
    for (const client of [this.#routerBytes, ...this.#shardBytes]) client.close()
    await this.cluster.stop()
  }

  async #populate(): Promise<void> {
    const admin = (command: Document) => this.client.db('admin').command(command)
    const app = this.client.db('app')
    const zones = this.version !== '2.6'
    // No other process changes the catalog.
    if (zones) await admin({ balancerStop: 1 })
    else
      await this.client
        .db('config')
        .collection<Document>('settings')
        .insertOne({ _id: 'balancer', stopped: true } as never)
    await admin({ enableSharding: 'app', ...(zones ? { primaryShard: 'shard01' } : {}) })
    await admin({ shardCollection: 'app.c', key: { k: 1 } })
    for (const k of [10, 20]) await admin({ split: 'app.c', middle: { k } })
    await admin({ moveChunk: 'app.c', find: { k: 10 }, to: 'shard02' })
    await admin({ shardCollection: 'app.compound', key: { a: 1, b: 1 } })
    await admin({ split: 'app.compound', middle: { a: 5, b: 5 } })
    await admin({ shardCollection: 'app.hashed', key: { h: 'hashed' } })
    await admin({ shardCollection: 'app.empty', key: { k: 1 } })
    if (zones) {
      await admin({ addShardToZone: 'shard01', zone: 'east' })
      await admin({ addShardToZone: 'shard02', zone: 'west' })
      await admin({ updateZoneKeyRange: 'app.c', min: { k: 0 }, max: { k: 10 }, zone: 'east' })
    }
    const insert = (name: string, documents: Document[]) => app.collection(name).insertMany(documents as never)
    await insert(
      'c',
      [0, 5, 10, 15, 20, 25].map((k) => ({ _id: k, k, n: [k, k] })),
    )
    await insert(
      'compound',
      [1, 5, 9].map((a) => ({ _id: a, a, b: a })),
    )
    await insert(
      'hashed',
      [1, 2, 3, 4].map((h) => ({ _id: h, h })),
    )
    await insert(
      'plain',
      [1, 2].map((u) => ({ _id: u, u, m: [u, u + 1] })),
    )
    await app.createIndex('c', { k: 1, n: 1 })
    await app.createIndex('plain', { u: 1 }, { unique: true })
    await app.createIndex('plain', { m: 1 })
    await app.createCollection('capped', { capped: true, size: 4096 })
    if (zones) await app.createCollection('view', { viewOn: 'c', pipeline: [] })
  }

  /** Runs a command and returns its answer. */
  async answer(db: string, command: Document, to: 'router' | 'shard'): Promise<{ answer: Answer; reply: Document }> {
    const client = to === 'router' ? this.client : this.#shards[0]!
    try {
      return { answer: 'ok', reply: await client.db(db).command(command) }
    } catch (error) {
      const reply = (error as MongoServerError).errorResponse as Document | undefined
      if (reply === undefined) throw error
      return { answer: (reply['code'] as number | undefined) ?? 'none', reply }
    }
  }

  /** The sharding catalog, byte for byte. */
  async catalog(): Promise<Record<string, string>> {
    const all = await Promise.all(
      catalogCollections.map((name) => listing(this.#routerBytes, { find: name, $db: 'config' })),
    )
    return Object.fromEntries(catalogCollections.map((name, i) => [name, all[i]!]))
  }

  /** The shards' collections with options, indexes and documents, byte for byte. */
  async data(): Promise<Record<string, string>> {
    const held: Record<string, string> = {}
    for (const [i, shard] of this.#shardBytes.entries()) {
      const { databases } = (await shard.command({ listDatabases: 1, nameOnly: true, $db: 'admin' })) as {
        databases: { name: string }[]
      }
      for (const { name: $db } of databases) {
        if (['admin', 'config', 'local'].includes($db)) continue
        const list = { listCollections: 1, $db }
        held[`shard0${i + 1} ${$db}`] = await listing(shard, list)
        const { cursor } = (await shard.command(list)) as { cursor: { firstBatch: { name: string; type?: string }[] } }
        for (const { name, type } of cursor.firstBatch) {
          if (type === 'view') continue
          held[`shard0${i + 1} ${$db}.${name} indexes`] = await listing(shard, { listIndexes: name, $db })
          held[`shard0${i + 1} ${$db}.${name}`] = await listing(shard, { find: name, $db })
        }
      }
    }
    return held
  }
}

/** Reads the cursor of a command that lists something, all of it in the first batch. */
async function listing(client: RawClient, command: Document): Promise<string> {
  const batch = 'find' in command ? { batchSize: batchMax } : { cursor: { batchSize: batchMax } }
  const cursor = findField(await client.commandBytes(encode({ ...command, ...batch })), 'cursor')
  if (cursor === undefined) throw new Error(`nothing to list: ${JSON.stringify(command)}`)
  return Buffer.from(cursor.slice()).toString('latin1')
}
