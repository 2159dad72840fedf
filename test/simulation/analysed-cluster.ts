/** A simulated cluster for query sampling and shard key analysis: commands, and advancing time. */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { anyMembers } from '../support/members.js'

export interface AnalysedClusterOptions {
  /** Default 7.0. */
  readonly emulate?: EmulatedVersion
  /** Default 2. */
  readonly shards?: number
  /** Default 1. */
  readonly mongos?: number
  /** Default false. */
  readonly attaches?: boolean
  /** Default true. */
  readonly samplesQueries?: boolean
}

/** Interval at which members refresh what to sample, and shards write samples. */
export const refreshMs = 10_000
export const writeMs = 90_000

export class AnalysedCluster {
  readonly cluster: SimulatedCluster

  private constructor(cluster: SimulatedCluster) {
    this.cluster = cluster
  }

  static async start({
    emulate = '7.0',
    shards = 2,
    mongos = 1,
    attaches = false,
    samplesQueries = true,
  }: AnalysedClusterOptions = {}): Promise<AnalysedCluster> {
    return new AnalysedCluster(
      await createSimulatedCluster({ seed: 7, emulate, shards, mongos, attaches, samplesQueries, ...anyMembers }),
    )
  }

  /** The reply without its times, with 64-bit integers as numbers. */
  async run(command: Document, to = 'mongos01'): Promise<Document> {
    const reply = await this.cluster.command(encode({ ...command, $db: command['$db'] ?? 'shop' }), { to })
    const { $clusterTime: _, operationTime: __, ...rest } = decode(reply, { promoteLongs: true })
    return rest
  }

  admin(command: Document, to?: string): Promise<Document> {
    return this.run({ ...command, $db: 'admin' }, to)
  }

  async aggregate(pipeline: readonly Document[], db = 'admin', to?: string): Promise<Document[]> {
    const reply = await this.run({ aggregate: 1, pipeline, cursor: { batchSize: 10_000 }, $db: db }, to)
    if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
    return (reply['cursor'] as { firstBatch: Document[] }).firstBatch
  }

  async find(collection: string, to?: string, db = 'config'): Promise<Document[]> {
    const reply = await this.run({ find: collection, sort: { _id: 1 }, batchSize: 10_000, $db: db }, to)
    return (reply['cursor'] as { firstBatch: Document[] }).firstBatch
  }

  async insert(collection: string, documents: readonly Document[]): Promise<void> {
    for (let at = 0; at < documents.length; at += 1000) {
      const reply = await this.run({ insert: collection, documents: documents.slice(at, at + 1000) })
      if (reply['n'] !== Math.min(1000, documents.length - at)) throw new Error(JSON.stringify(reply))
    }
  }

  async index(collection: string, key: Document, options: Document = {}): Promise<void> {
    const name = Object.entries(key)
      .map(([path, value]) => `${path}_${String(value)}`)
      .join('_')
    const reply = await this.run({ createIndexes: collection, indexes: [{ key, name, ...options }] })
    if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  }

  /** Shards shop.orders by x, with a chunk below and a chunk from `middle` on two shards. */
  async shardedOrders(middle = 0): Promise<void> {
    await this.#ok({ enableSharding: 'shop', primaryShard: 'shard01' })
    await this.#ok({ shardCollection: 'shop.orders', key: { x: 1 } })
    await this.#ok({ split: 'shop.orders', middle: { x: middle } })
    await this.#ok({ moveChunk: 'shop.orders', find: { x: middle }, to: 'shard02' })
  }

  async #ok(command: Document): Promise<void> {
    const reply = await this.admin(command)
    if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  }

  /** Starts sampling a collection, and waits until every member has refreshed. */
  async sample(ns: string, samplesPerSecond = 50): Promise<void> {
    await this.#ok({ configureQueryAnalyzer: ns, mode: 'full', samplesPerSecond })
    await this.cluster.advance(2 * refreshMs)
  }

  /** Runs commands slowly enough to sample all of them. */
  async slowly(commands: readonly Document[]): Promise<void> {
    for (const command of commands) {
      const reply = await this.run(command)
      if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
      await this.cluster.advance(200)
    }
  }

  /** The samples, after they have been written. */
  async samples(namespace?: string): Promise<Document[]> {
    await this.cluster.advance(writeMs + 1000)
    return this.aggregate([{ $listSampledQueries: namespace === undefined ? {} : { namespace } }])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cluster.stop()
  }
}
