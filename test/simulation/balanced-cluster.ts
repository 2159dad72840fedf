/** A simulated cluster whose balancer runs rounds only when a test requests them, by default. */
import { createRandom } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import {
  createSimulatedCluster,
  type BalancerRoundEvent,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from '@shardlab/cluster'
import type { Test } from 'tap'
import { PatientClient } from './patient-client.js'
import { anyMembers } from '../support/members.js'

/** Longer than any test. */
const neverMs = 2 ** 31 - 1

export class BalancedCluster {
  readonly cluster: SimulatedCluster
  readonly admin: PatientClient
  readonly rounds: BalancerRoundEvent[] = []

  private constructor(cluster: SimulatedCluster) {
    this.cluster = cluster
    this.admin = this.client('admin')
    cluster.onEvent((event) => {
      if (event.type === 'balancer-round') this.rounds.push(event)
    })
  }

  /** Chunk size 16 KB by default. */
  static async start(options: SimulatedClusterOptions): Promise<BalancedCluster> {
    return new BalancedCluster(
      await createSimulatedCluster({
        seed: 1,
        chunkSize: '16KB',
        balancerRoundIntervalMs: neverMs,
        ...anyMembers,
        ...options,
      }),
    )
  }

  client(name: string): PatientClient {
    return new PatientClient(this.cluster, createRandom(this.cluster.seed).fork(name))
  }

  command(command: Document): Promise<Document> {
    return this.admin.untilDone({ ...command, $db: 'admin' })
  }

  /** The reply, also if it is an error. */
  async reply(command: Document): Promise<Document> {
    return decode(await this.cluster.command(encode({ ...command, $db: 'admin' })), { promoteLongs: true })
  }

  /** Shards `app.NAME` by a key, on the first shard. */
  async shard(name: string, key: Document = { k: 1 }, options: Document = {}): Promise<string> {
    await this.command({ enableSharding: 'app', primaryShard: this.cluster.shards[0]! })
    const ns = `app.${name}`
    await this.command({ shardCollection: ns, key, ...options })
    return ns
  }

  /** Inserts documents of about `bytes` bytes with these keys as `_id` and `k`. */
  async insert(
    name: string,
    keys: readonly number[],
    bytes = 512,
    fields: (key: number) => Document = () => ({}),
  ): Promise<void> {
    const pad = new Binary(Buffer.alloc(Math.max(0, bytes - 50)))
    for (let at = 0; at < keys.length; at += 100) {
      const documents = keys.slice(at, at + 100).map((key) => ({ _id: key, k: key, pad, ...fields(key) }))
      await this.admin.writeRetryably({ command: { insert: name, $db: 'app' }, documents, field: 'documents' })
    }
  }

  async split(ns: string, points: readonly number[]): Promise<void> {
    for (const k of points) await this.command({ split: ns, middle: { k } })
  }

  async find(collection: string, filter: Document = {}, db = 'config'): Promise<Document[]> {
    const { cursor } = await this.admin.untilDone({
      find: collection,
      filter,
      sort: { $natural: 1 },
      batchSize: 100_000,
      $db: db,
    })
    return cursor.firstBatch as Document[]
  }

  /** The config.chunks documents of a collection in key order. */
  async chunks(ns: string): Promise<Document[]> {
    const [collection] = await this.find('collections', { _id: ns })
    const filter = collection!['timestamp'] === undefined ? { ns } : { uuid: collection!['uuid'] }
    const { cursor } = await this.admin.untilDone({
      find: 'chunks',
      filter,
      sort: { min: 1 },
      batchSize: 100_000,
      $db: 'config',
    })
    return cursor.firstBatch as Document[]
  }

  /** Number of chunks of each shard, in the order of the shards. */
  async chunkCounts(ns: string): Promise<number[]> {
    const chunks = await this.chunks(ns)
    return this.cluster.shards.map((id) => chunks.filter(({ shard }) => shard === id).length)
  }

  /** `_id`s of the documents on each shard, orphans included. */
  async placed(name: string): Promise<number[][]> {
    const placed: number[][] = []
    for (const to of this.cluster.shards) {
      const reply = decode(
        await this.cluster.command(
          encode({ find: name, projection: { _id: 1 }, sort: { _id: 1 }, batchSize: 100_000, $db: 'app' }),
          {
            to,
          },
        ),
      )
      placed.push((reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id))
    }
    return placed
  }

  /** Writes to the catalog directly, without checks, as administrators can. */
  async writeConfig(collection: string, q: Document, u: Document): Promise<void> {
    const updates = [{ q, u, upsert: true }]
    await this.admin.untilDone({ update: collection, updates, writeConcern: { w: 'majority' }, $db: 'config' })
  }

  stop(): Promise<void> {
    return this.cluster.stop()
  }
}

export function range(length: number, from = 0): number[] {
  return Array.from({ length }, (_, i) => from + i)
}

export const long = (value: number) => Long.fromNumber(value)

/** Asserts that every document is on exactly one shard. */
export function onceEach(t: Test, placed: readonly (readonly number[])[], keys: readonly number[]): void {
  t.same(
    placed.flat().toSorted((a, b) => a - b),
    keys,
    'every document is there once',
  )
}
