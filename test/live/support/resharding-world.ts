/** A cluster with a collection to reshard. */
import type { Test } from 'tap'
import { MongoClient, type Db, type Document, type MongoServerError } from 'mongodb'
import { ShardedCluster, type EmulatedVersion } from 'shardlab'

export interface Numbered {
  readonly _id: number
  readonly k: number
  readonly m: number
  readonly n: number
}

export class ReshardingWorld {
  readonly cluster: ShardedCluster
  readonly client: MongoClient
  readonly #t: Test

  private constructor(t: Test, cluster: ShardedCluster, client: MongoClient) {
    this.#t = t
    this.cluster = cluster
    this.client = client
  }

  static async start(
    t: Test,
    options: { emulate?: EmulatedVersion; mongos?: number; shards?: number } = {},
  ): Promise<ReshardingWorld> {
    const cluster = await ShardedCluster.start({
      shards: 3,
      runtime: 'inline',
      balancerRoundIntervalMs: 100_000,
      ...options,
    })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    return new ReshardingWorld(t, cluster, client)
  }

  admin(command: Document): Promise<Document> {
    return this.client.db('admin').command(command)
  }

  get app(): Db {
    return this.client.db('app')
  }

  get config(): Db {
    return this.client.db('config')
  }

  /** Inserts `count` documents sharded by `{ k: 1 }`: the upper half on the second shard. */
  async shard(name: string, count: number): Promise<void> {
    await this.admin({ enableSharding: 'app', primaryShard: 'shard01' })
    await this.admin({ shardCollection: `app.${name}`, key: { k: 1 } })
    await this.admin({ split: `app.${name}`, middle: { k: count / 2 } })
    await this.admin({ moveChunk: `app.${name}`, find: { k: count }, to: 'shard02' })
    await this.app
      .collection<Numbered>(name)
      .insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, k: i, m: (i * 7919) % count, n: 0 })))
  }

  entry(ns: string): Promise<Document | null> {
    return this.config.collection<{ _id: string }>('collections').findOne({ _id: ns })
  }

  async chunks(ns: string): Promise<Document[]> {
    const { uuid } = (await this.entry(ns))!
    return this.config.collection('chunks').find({ uuid }).sort({ min: 1 }).toArray()
  }

  /** A direct connection to a member. */
  async direct(member: string): Promise<MongoClient> {
    const { endpoint } = this.cluster.members().find(({ address }) => address === member)!
    const client = await MongoClient.connect(`mongodb://${endpoint}/?directConnection=true`)
    this.#t.teardown(() => client.close())
    return client
  }

  /** Keeps a resharding from blocking writes until the setting changes. */
  async linger(): Promise<void> {
    const config = await this.direct('config')
    await config.db('admin').command({ setParameter: 1, reshardingMinimumOperationDurationMillis: 600_000 })
  }

  /** Resolves when the collection's entry has this state. */
  async untilState(ns: string, state: string): Promise<void> {
    for (;;) {
      const entry = await this.entry(ns)
      if (entry?.['reshardingFields']?.state === state) return
    }
  }
}

export const codeOf = (work: Promise<unknown>): Promise<number | string | undefined> =>
  work.then(
    () => 'ok',
    (error: MongoServerError) => error.code,
  )
