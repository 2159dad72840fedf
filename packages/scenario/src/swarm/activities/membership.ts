import type { Random } from '@shardlab/actor'
import type { Document, Timestamp } from '@shardlab/bson'
import { chunksOf } from '../catalog.js'
import { errorsOf, WrongAnswerError, type Code } from '../client/errors.js'
import type { SwarmClient } from '../client/swarm-client.js'
import { Activity } from './activity.js'
import { cannotMove, cannotMovePrimary, codes } from './codes.js'

const roundsMax = 80
const movesOfRound = 6
const databases = ['app', 'short', 'records'] as const
const returnAttemptsMax = 1000
/** The shard may not be drained now. */
const notNow: readonly Code[] = [codes.illegalOperation, codes.conflictingOperation, codes.zoneStillInUse]
/** Already removed: an earlier reply was lost. */
const gone: readonly Code[] = [codes.shardNotFound, codes.shardCannotBeFound]

export class Membership extends Activity {
  readonly name = 'membership'

  async run(): Promise<void> {
    const random = this.world.random.fork('membership')
    const client = this.world.client('membership')
    await client.pause(200)
    while (this.world.pace.isAnyClientWorking) {
      await this.#step(client, random)
      await client.wait(100)
    }
  }

  /** May end with the shard still draining; the next step resumes. */
  async #step(client: SwarmClient, random: Random): Promise<void> {
    const shard = this.world.cluster.shards.at(-1)!
    const found = await client.documentsOf({ find: 'shards', filter: { _id: shard }, $db: 'config' })
    const host = found?.[0]?.['host'] as string | undefined
    if (host === undefined) return
    // Of the first question since the last answer: the shard may have left with it.
    let askedAtMs: number | null = null
    for (let round = 0; round < roundsMax && this.world.pace.isAnyClientWorking; round++) {
      askedAtMs ??= this.world.cluster.now()
      const answer = await client.try({ removeShard: shard, $db: 'admin' }, [...notNow, ...gone])
      if (answer !== null && (gone.includes(answer.code ?? undefined) || answer.reply['state'] === 'completed')) {
        this.count('shard left')
        this.world.departures.push({
          sinceMs: askedAtMs,
          until: answer.reply['operationTime'] as Timestamp | undefined,
        })
        return this.#comeBack(client, shard, host)
      }
      if (answer !== null) askedAtMs = null
      if (answer !== null && answer.code === null) await this.#empty(client, random, shard, answer.reply)
      await client.pause(50)
    }
  }

  async #empty(client: SwarmClient, random: Random, shard: string, { dbsToMove = [] }: Document): Promise<void> {
    const others = this.world.cluster.shards.filter((each) => each !== shard)
    const other = () => others[random.below(others.length)]!
    const collections = await client.documentsOf({ find: 'collections', filter: {}, batchSize: 1000, $db: 'config' })
    const chunks = await client.documentsOf({ find: 'chunks', filter: { shard }, batchSize: 1000, $db: 'config' })
    for (const chunk of random.shuffled(chunks ?? []).slice(0, movesOfRound)) {
      const ns = (collections ?? []).find((collection) => isOf(chunk, collection))?.['_id']
      if (ns === undefined) continue
      await client.try({ moveChunk: ns, bounds: [chunk['min'], chunk['max']], to: other(), $db: 'admin' }, cannotMove)
    }
    for (const db of dbsToMove as string[])
      await client.try({ movePrimary: db, to: other(), $db: 'admin' }, cannotMovePrimary)
  }

  /** Leftover databases of the cluster on the shard would prevent its return. */
  async #comeBack(client: SwarmClient, shard: string, host: string): Promise<void> {
    await client.pause(300)
    for (let attempt = 1; ; attempt++) {
      if (attempt > returnAttemptsMax)
        throw new WrongAnswerError({ addShard: shard, $db: 'admin' }, `${shard} does not come back`)
      const replies = await Promise.all(databases.map((db) => client.once({ dropDatabase: 1, $db: db }, shard)))
      if (replies.every((reply) => reply !== null && errorsOf(reply).length === 0)) {
        const { code } = await client.untilDone({ addShard: host, $db: 'admin' }, [codes.operationFailed])
        if (code === null) break
      }
      await client.pause(50)
    }
    this.count('shard came back')
  }
}

function isOf(chunk: Document, collection: Document): boolean {
  return Object.entries(chunksOf(collection)).every(
    ([field, value]) => JSON.stringify(chunk[field]) === JSON.stringify(value),
  )
}
