/** Collections that come, move, get other names, go and come again: what was dropped is gone, what is there is new. */
import type { Random } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { StoryClient } from '../sharding-client.js'

const namespaceNotFound = 26
const duplicateKey = 11_000
const alreadyInitialized = 23
/** A shard was removed meanwhile. */
const shardNotFound = 70

export class ShortLived {
  rounds = 0
  readonly #cluster: SimulatedCluster
  readonly #renamesSharded: boolean
  readonly #violations: string[] = []

  /** @param renamesSharded whether sharded collections may be renamed */
  constructor(cluster: SimulatedCluster, renamesSharded: boolean) {
    this.#cluster = cluster
    this.#renamesSharded = renamesSharded
  }

  get violations(): readonly string[] {
    return this.#violations
  }

  /** One life of a collection, by one client. */
  async step(client: StoryClient, random: Random): Promise<void> {
    const round = ++this.rounds
    let ns = 'fleeting'
    const isSharded = random.chance(2, 3)
    if (isSharded) {
      const key = random.chance(1, 2) ? { _id: 'hashed' } : { _id: 1 }
      await client.untilDone({ enableSharding: 'short', $db: 'admin' })
      const command = { shardCollection: `short.${ns}`, key, $db: 'admin' }
      while ((await client.untilDone(command, [alreadyInitialized, shardNotFound])).code === shardNotFound) await client.pause(50)
    }
    const documents = Array.from({ length: 8 }, (_, i) => ({ _id: round * 100 + i, round }))
    // Where the primary shard changes, what the history of retryable writes knows stays behind.
    await client.retryably(
      { insert: ns, documents, $db: 'short' },
      isSharded ? [] : [duplicateKey],
      isSharded ? ({ n }) => n as number : null,
    )
    await this.#expect(client, ns, documents.length, `after insert in round ${round}`)
    if (isSharded) {
      const find = { _id: documents[0]!._id }
      const to = this.#cluster.shards[random.below(this.#cluster.shards.length)]!
      // Whatever becomes of it.
      await client.once({ moveChunk: `short.${ns}`, find, to, $db: 'admin' })
    }
    if ((!isSharded || this.#renamesSharded) && random.chance(1, 2)) {
      await client.untilDone({ renameCollection: `short.${ns}`, to: 'short.renamed', dropTarget: true, $db: 'admin' }, [namespaceNotFound])
      await this.#expect(client, ns, 0, `under the old name in round ${round}`)
      ns = 'renamed'
    }
    await this.#expect(client, ns, documents.length, `before drop in round ${round}`)
    if (random.chance(1, 4)) {
      await client.untilDone({ dropDatabase: 1, $db: 'short' })
    } else {
      await client.untilDone({ drop: ns, $db: 'short' }, [namespaceNotFound])
    }
    await this.#expect(client, ns, 0, `after drop in round ${round}`)
  }

  async #expect(client: StoryClient, ns: string, count: number, when: string): Promise<void> {
    const found = await client.documentsOf({ find: ns, filter: {}, batchSize: 3, $db: 'short' })
    if (found === null) return
    const ids = new Set(found.map(({ _id }) => _id as number))
    if (ids.size !== found.length || ids.size !== count)
      this.#violations.push(`short.${ns} ${when} holds ${found.map(({ _id }) => _id).join()}`)
  }
}
