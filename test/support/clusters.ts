/**
 * Inline clusters that the tests of one file share, one per version, with a database per test.
 * Their balancers start no rounds by themselves.
 */
import { MongoClient, type Collection, type Db, type Document } from 'mongodb'
import { ShardedCluster, type ClusterOptions, type RoutedEvent } from 'shardlab'
import type { EmulatedVersion } from '@shardlab/sharding'
import { anyMembers } from './members.js'

/** Documents of any shape, with an `_id` of any type. */
export type Loose = Collection<any>

export class TestCluster {
  readonly version: EmulatedVersion
  readonly cluster: ShardedCluster
  readonly client: MongoClient
  readonly #direct = new Map<string, MongoClient>()
  #databases = 0

  private constructor(version: EmulatedVersion, cluster: ShardedCluster, client: MongoClient) {
    this.version = version
    this.cluster = cluster
    this.client = client
  }

  static async start(version: EmulatedVersion, options: Partial<ClusterOptions> = {}): Promise<TestCluster> {
    const cluster = await ShardedCluster.start({
      shards: 3,
      runtime: 'inline',
      balancerRoundIntervalMs: 2 ** 31 - 1,
      ...anyMembers,
      ...options,
      emulate: version,
    })
    return new TestCluster(version, cluster, await MongoClient.connect(cluster.uri))
  }

  async stop(): Promise<void> {
    await Promise.all([this.client, ...this.#direct.values()].map((client) => client.close()))
    await this.cluster.stop()
  }

  admin(command: Document): Promise<Document> {
    return this.client.db('admin').command(command)
  }

  /** In order. */
  get shardIds(): string[] {
    return this.cluster.shards.map(({ id }) => id)
  }

  get config(): Db {
    return this.client.db('config')
  }

  /** Creates a database for one test: sharding enabled, the first shard as primary by default. */
  async database(primaryShard: string = this.shardIds[0]!): Promise<Db> {
    const db = this.client.db(`db${++this.#databases}`)
    // Before 4.4 the caller cannot choose: the server takes the shard with the least data, the one
    // without a database.
    await this.admin({ enableSharding: db.databaseName, primaryShard })
    return db
  }

  /** A direct connection to a shard. */
  async shard(id: string): Promise<MongoClient> {
    const known = this.#direct.get(id)
    if (known !== undefined) return known
    const client = await MongoClient.connect(this.cluster.shards.find((shard) => shard.id === id)!.uri)
    this.#direct.set(id, client)
    return client
  }

  /** The `_id`s of a collection's documents by shard, orphans included. */
  async placed(collection: Loose): Promise<Record<string, unknown[]>> {
    const placed: Record<string, unknown[]> = {}
    for (const id of this.shardIds) {
      const local = (await this.shard(id)).db(collection.dbName).collection(collection.collectionName)
      const documents = await local.find({}, { projection: { _id: 1 }, sort: { _id: 1 } }).toArray()
      if (documents.length > 0) placed[id] = documents.map(({ _id }) => _id)
    }
    return placed
  }

  /**
   * Shards a new collection by a key, splits it at these keys and gives chunk i to `owners[i]`, by
   * default to shard i.
   * @param options further arguments of shardCollection
   */
  async spread(
    name: string,
    key: Document,
    points: readonly Document[],
    owners: readonly string[] = this.shardIds,
    options: Document = {},
  ): Promise<Loose> {
    const collection: Loose = (await this.database()).collection(name)
    await this.admin({ shardCollection: collection.namespace, key, ...options })
    for (const middle of points) await this.admin({ split: collection.namespace, middle })
    for (const [i, { min, max, shard }] of (await this.chunks(collection)).entries()) {
      const to = owners[i % owners.length]
      if (to !== shard)
        await this.admin({ moveChunk: collection.namespace, bounds: [min, max], to, _waitForDelete: true })
    }
    return collection
  }

  /** Ids of the shards that explain names for a find with this filter. */
  async targets(collection: Loose, filter: Document, options: Document = {}): Promise<string[]> {
    const plan = (await collection.find(filter, options).explain('queryPlanner'))['queryPlanner'].winningPlan
    return plan.shards.map(({ shardName }: { shardName: string }) => shardName).sort()
  }

  /** The routing events of the operations that `run` does on a collection. */
  async routed(collection: Loose, run: () => Promise<unknown>): Promise<RoutedEvent[]> {
    const events: RoutedEvent[] = []
    const note = (event: RoutedEvent) => void (event.ns === collection.namespace && events.push(event))
    this.cluster.on('routed', note)
    try {
      await this.#settle()
      await run()
      await this.#settle()
    } finally {
      this.cluster.off('routed', note)
    }
    return events
  }

  /** Resolves when pending router events have arrived. */
  async #settle(): Promise<void> {
    const routers = this.cluster.members().filter(({ role }) => role === 'mongos')
    await Promise.all(routers.map(({ address }) => this.cluster.describe(address)))
  }

  async chunks(collection: Loose): Promise<Document[]> {
    const entry = await this.config
      .collection<Document & { _id: string }>('collections')
      .findOne({ _id: collection.namespace })
    const filter = entry?.['timestamp'] === undefined ? { ns: collection.namespace } : { uuid: entry['uuid'] }
    return this.config.collection('chunks').find(filter).sort({ min: 1 }).toArray()
  }
}

/** Starts the cluster of each version when it is first used. */
export class TestClusters {
  readonly #started = new Map<EmulatedVersion, Promise<TestCluster>>()
  readonly #options: Partial<ClusterOptions>

  constructor(options: Partial<ClusterOptions> = {}) {
    this.#options = options
  }

  at(version: EmulatedVersion): Promise<TestCluster> {
    let started = this.#started.get(version)
    if (started === undefined) {
      started = TestCluster.start(version, this.#options)
      this.#started.set(version, started)
    }
    return started
  }

  async stop(): Promise<void> {
    const started = [...this.#started.values()]
    this.#started.clear()
    for (const cluster of started) await (await cluster).stop()
  }
}
