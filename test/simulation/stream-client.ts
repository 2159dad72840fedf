/** Reads change streams of a simulated cluster. */
import { Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { ask } from './two-shard-cluster.js'

export type Target = 'mongos01' | 'shard01'

export class Stream {
  readonly #cluster: SimulatedCluster
  readonly #to: Target
  readonly #command: Document
  id: unknown
  token: Document

  private constructor(cluster: SimulatedCluster, to: Target, command: Document, { cursor }: Document) {
    this.#cluster = cluster
    this.#to = to
    this.#command = command
    this.id = cursor.id
    this.token = cursor.postBatchResumeToken as Document
  }

  static async open(cluster: SimulatedCluster, to: Target, options: Document = {}, command: Document = {}) {
    const { pipeline = [], ...rest } = command
    const $db = (rest['$db'] as string | undefined) ?? 'app'
    const whole = {
      ...{ aggregate: 'things', cursor: { batchSize: 0 } },
      ...rest,
      pipeline: [{ $changeStream: options }, ...(pipeline as Document[])],
      $db,
    }
    const reply = await ask(cluster, whole, to)
    if (reply['ok'] !== 1) throw Object.assign(new Error(reply['errmsg'] as string), { code: reply['code'] as number })
    return new Stream(cluster, to, whole, reply)
  }

  async read(more: Document = { maxTimeMS: 50 }): Promise<Document[]> {
    const { aggregate, $db } = this.#command
    const collection = aggregate === 1 ? '$cmd.aggregate' : (aggregate as string)
    const getMore = Long.fromString(String(this.id))
    const reply = await ask(this.#cluster, { getMore, collection, ...more, $db }, this.#to)
    if (reply['ok'] !== 1) throw Object.assign(new Error(reply['errmsg'] as string), { code: reply['code'] as number })
    const { id, nextBatch, postBatchResumeToken } = reply['cursor'] as Record<string, unknown>
    this.id = id
    this.token = postBatchResumeToken as Document
    return nextBatch as Document[]
  }

  /** At least so many. */
  async events(count: number): Promise<Document[]> {
    const events: Document[] = []
    for (let i = 0; i < 100 && events.length < count && String(this.id) !== '0'; i++)
      events.push(...(await this.read()))
    return events
  }
}

export const types = (events: readonly Document[]) => events.map(({ operationType }) => operationType as string)
