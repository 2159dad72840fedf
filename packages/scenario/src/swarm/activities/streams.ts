/**
 * A change stream on the database, which a client resumes after every failure. Replaying its events
 * yields the collections.
 */
import type { Document } from '@shardlab/bson'
import { cursorId } from '../../client/reply.js'
import { mayLackEvents, type StreamOpening } from '../checkers/stream-gaps.js'
import { StreamReplay } from '../checkers/streams.js'
import type { SwarmClient } from '../client/swarm-client.js'
import { collectionsOf } from '../documents/collections.js'
import { finding } from '../finding.js'
import { Activity } from './activity.js'

const $db = 'app'
const awaitMs = 400
/** After the last fault, for events that are still held back. */
const patienceMs = 120_000

/**
 * The stream cannot continue, as on the server: 280 (40585 until 4.0) the shard with its last event
 * has left the cluster, 286 (40576) an oplog has dropped entries.
 */
const endsForGood = [280, 286, 40_576, 40_585]
/** The stream is opened again: 43, 237 the cursor is gone, 136 its position is lost. */
const opensAgain = [43, 136, 237]
/**
 * A stream that resumes after an event of the same cluster time on another shard gets only the
 * second one: the token of the first is before that of the event.
 */
const dropEvents: ReadonlySet<string> = new Set(['dropDatabase', 'invalidate'])

export class Streams extends Activity {
  readonly name = 'streams'
  readonly #replay = new StreamReplay(this.world.behaviours.writesIncludeOrphans)
  #token: Document | null = null
  #isOver = false
  readonly #openings: StreamOpening[] = []

  override async prepare(): Promise<void> {
    const client = this.world.client('streams')
    // A router starts a stream at the newest time that it knows. By reading first, the client
    // learns the time of writes that other routers have routed, and tells it.
    await this.#read(client, async () => {})
    const { reply } = await client.untilDone(this.#opening())
    this.#token = tokenOf(reply)
    this.#replay.begin(`${$db}.stream`, [])
    await this.#read(client, async (documents, ns) => this.#replay.begin(ns, documents))
  }

  async run(): Promise<void> {
    const client = this.world.client('stream', true)
    await this.#follow(client, () => this.world.pace.isAnyClientWorking)
  }

  override async finish(): Promise<void> {
    const client = this.world.client('stream at the end')
    const end = `end ${this.world.plan.seed}`
    await client.untilDone({ insert: 'stream', documents: [{ _id: end }], writeConcern: { w: 'majority' }, $db })
    const untilMs = this.world.cluster.now() + patienceMs
    await this.#follow(client, () => !this.#replay.has(`${$db}.stream`, end) && this.world.cluster.now() < untilMs)
    if (this.#isOver) return
    if (!this.#replay.has(`${$db}.stream`, end)) this.#violated('the stream does not return the last insert', null)
    if (mayLackEvents(this.#openings, this.world.departures)) return
    for (const { ns, sentence, id } of this.#replay.contradictions) this.#violated(sentence, ns, id)
    await this.#read(client, async (documents, ns) => {
      for (const { sentence, id } of this.#replay.differences(ns, documents)) this.#violated(sentence, ns, id)
    })
  }

  #opening(): Document {
    const start = this.#token === null ? {} : { resumeAfter: this.#token }
    return { aggregate: 1, pipeline: [{ $changeStream: start }], cursor: {}, $db }
  }

  async #follow(client: SwarmClient, isWanted: () => boolean): Promise<void> {
    while (isWanted() && !this.#isOver) {
      const router = client.anyRouter()
      const atMs = this.world.cluster.now()
      const opened = await client.try(this.#opening(), [...endsForGood, ...opensAgain], router)
      if (this.#token !== null) this.#openings.push({ atMs, token: this.#token })
      if (opened?.code !== null) {
        if (endsForGood.includes(opened?.code as number)) this.#isOver = true
        await client.pause(100)
        continue
      }
      this.count('stream opened')
      this.#replay.resumed()
      await this.#readOn(client, router, opened.reply, isWanted)
    }
  }

  async #readOn(client: SwarmClient, router: string, opened: Document, isWanted: () => boolean): Promise<void> {
    const { id } = opened['cursor'] as Document
    this.#take(opened['cursor'].firstBatch as Document[], tokenOf(opened))
    // After the drop of the database the stream reports that it is invalid, which is no change.
    while (isWanted() && !this.#isOver) {
      const command = { getMore: cursorId(id), collection: '$cmd.aggregate', maxTimeMS: awaitMs, $db }
      const more = await client.try(command, [...endsForGood, ...opensAgain], router)
      if (more?.code !== null) {
        if (endsForGood.includes(more?.code as number)) this.#isOver = true
        return
      }
      this.#take(more.reply['cursor'].nextBatch as Document[], tokenOf(more.reply))
    }
    await client.once({ killCursors: '$cmd.aggregate', cursors: [cursorId(id)], $db }, router)
  }

  #take(events: readonly Document[], token: Document): void {
    for (const event of events) {
      if (dropEvents.has(event['operationType'] as string)) return this.#dropped()
      this.#replay.apply(event)
    }
    if (events.length > 0) this.count('stream read')
    this.#token = token
  }

  /** A shard that has left the cluster is emptied before it joins again, which its oplog has. */
  #dropped(): void {
    this.#isOver = true
    if (!this.world.plan.activities.includes('membership'))
      this.#violated('the stream reports that the database was dropped', null)
  }

  async #read(client: SwarmClient, use: (documents: Document[], ns: string) => Promise<void>): Promise<void> {
    for (const { name } of collectionsOf(this.world.plan, this.world.behaviours)) {
      const found = await client.documentsOf({ find: name, filter: {}, batchSize: 1000, $db })
      if (found !== null) await use(found, `${$db}.${name}`)
    }
  }

  #violated(sentence: string, ns: string | null, id?: unknown): void {
    this.world.verdicts.violated('streams', finding(sentence, ns, ...(id === undefined ? [] : [id])))
  }
}

function tokenOf(reply: Document): Document {
  return (reply['cursor'] as Document)['postBatchResumeToken'] as Document
}
