/** A shard is drained by hand, taken out of the cluster and added again, while everything else goes on. */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { StoryClient } from '../sharding-client.js'
import { errorsOf } from '@shardlab/scenario'
import { cannotMove } from './placement.js'

const roundsMax = 80
const movesOfRound = 6
const returnAttemptsMax = 1000
/** 20, 117 and 163: it may not be drained now. */
const notNow = [20, 117, 163]
const shardNotFound = 70
const namespaceNotFound = 26
const notSharded = 118
const namespaceExists = 48
/** The shard has a database of a name that the cluster has. */
const operationFailed = 96

export class Membership {
  /** How often a shard left, and how often it came back. */
  left = 0
  cameBack = 0
  readonly #cluster: SimulatedCluster
  readonly #version: EmulatedVersion

  constructor(cluster: SimulatedCluster, version: EmulatedVersion) {
    this.#cluster = cluster
    this.#version = version
  }

  /** One attempt; it may end with the shard still draining, for the next one to go on. */
  async step(client: StoryClient, random: Random, goesOn: () => boolean): Promise<void> {
    const shard = this.#cluster.shards.at(-1)!
    const found = await client.documentsOf({ find: 'shards', filter: { _id: shard }, $db: 'config' })
    const host = found?.[0]?.['host'] as string | undefined
    if (host === undefined) return
    for (let round = 0; round < roundsMax && goesOn(); round++) {
      const answer = await client.try({ removeShard: shard, $db: 'admin' }, [...notNow, shardNotFound])
      if (answer?.code === shardNotFound || answer?.reply['state'] === 'completed') {
        this.left++
        return this.#comeBack(client, shard, host)
      }
      if (answer !== null && answer.code === null) await this.#empty(client, random, shard, answer.reply)
      await client.pause(50)
    }
  }

  async #empty(client: StoryClient, random: Random, shard: string, { dbsToMove = [] }: Document): Promise<void> {
    const others = this.#cluster.shards.filter((each) => each !== shard)
    const other = () => others[random.below(others.length)]!
    const collections = await client.documentsOf({ find: 'collections', filter: {}, batchSize: 1000, $db: 'config' })
    const chunks = await client.documentsOf({ find: 'chunks', filter: { shard }, batchSize: 1000, $db: 'config' })
    for (const chunk of random.shuffled(chunks ?? []).slice(0, movesOfRound)) {
      const ns = this.#version === '4.4' ? chunk['ns'] : (collections ?? []).find(({ uuid }) => sameUuid(uuid, chunk['uuid']))?.['_id']
      if (ns === undefined) continue
      await client.try({ moveChunk: ns, bounds: [chunk['min'], chunk['max']], to: other(), $db: 'admin' }, [
        ...cannotMove,
        namespaceNotFound,
        notSharded,
      ])
    }
    for (const db of dbsToMove as string[])
      await client.try({ movePrimary: db, to: other(), $db: 'admin' }, [namespaceNotFound, namespaceExists, shardNotFound])
  }

  /** What it has of the cluster's databases is rest, and in the way of its return. */
  async #comeBack(client: StoryClient, shard: string, host: string): Promise<void> {
    await client.pause(300)
    for (let attempt = 1; ; attempt++) {
      if (attempt > returnAttemptsMax) throw new Error(`${shard} does not come back`)
      const replies = await Promise.all(['app', 'short'].map((db) => client.once({ dropDatabase: 1, $db: db }, shard)))
      if (replies.every((reply) => reply !== null && errorsOf(reply).length === 0)) {
        const { code } = await client.untilDone({ addShard: host, $db: 'admin' }, [operationFailed])
        if (code === null) break
      }
      await client.pause(50)
    }
    this.cameBack++
  }
}

function sameUuid(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
