/** One writer and a reader of each kind. */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { readers, type Anomaly, type Reader, type Run } from './cells.js'
import { endMs, FaultStory, onCluster } from './fault-story.js'
import { anomaliesOf, type ReadEvent } from './history.js'

/** Anomalies of each of the {@link readers}. */
export type Played = readonly (readonly Anomaly[])[]

export const play = (run: Run, seed: number): Promise<Played> =>
  onCluster(seed, async (cluster, random) => {
    const story = new Story(cluster, random)
    await story.prepare()
    return story.run(run)
  })

class Story extends FaultStory {
  readonly #acknowledgedMs = new Map<number, number>()

  async prepare(): Promise<void> {
    await this.shardThings()
    const documents = [{ _id: 1, x: 1, writes: [] }]
    await this.must({ insert: 'things', documents, writeConcern: { w: 3 } })
  }

  async run({ writeConcern, fault }: Run): Promise<Played> {
    this.begin()
    const reads = readers.map((reader) => this.#read(reader, this.random.fork(JSON.stringify(reader))))
    const writing = this.#write(writeConcern === '1' ? 1 : 'majority', this.random.fork('writer'))
    await this.strike(fault)
    const events = await Promise.all(reads)
    await writing
    await this.settle()
    const kept = new Set((await this.#find({ readConcern: { level: 'majority' } }, 1))?.[0] ?? [])
    return events.map((each) => [...anomaliesOf(each, { acknowledgedMs: this.#acknowledgedMs, kept })].sort())
  }

  async #write(w: 1 | 'majority', random: Random): Promise<void> {
    const connection = this.nextConnection()
    for (let write = 1; this.elapsedMs < endMs; write++) {
      const update = {
        update: 'things',
        updates: [{ q: { x: 1 }, u: { $push: { writes: write } } }],
        writeConcern: { w, wtimeout: 1000 },
      }
      const reply = await this.try(update, connection)
      if (reply?.['nModified'] === 1 && reply['writeConcernError'] === undefined)
        this.#acknowledgedMs.set(write, this.cluster.now())
      await this.cluster.advance(20 + random.below(150))
    }
  }

  async #read({ readConcern, readPreference }: Reader, random: Random): Promise<ReadEvent[]> {
    const connection = this.nextConnection()
    const events: ReadEvent[] = []
    while (this.elapsedMs < endMs) {
      const beganMs = this.cluster.now()
      const copies = await this.#find(
        { readConcern: { level: readConcern }, $readPreference: { mode: readPreference }, maxTimeMS: 2000 },
        connection,
      )
      if (copies !== null) events.push({ beganMs, copies })
      await this.cluster.advance(20 + random.below(200))
    }
    return events
  }

  /** Without the shard key, so that all shards are asked. Null: the read failed. */
  async #find(options: Document, connection: number): Promise<number[][] | null> {
    const reply = await this.try({ find: 'things', filter: { _id: 1 }, ...options }, connection)
    if (reply?.['ok'] !== 1) return null
    return (reply['cursor'] as { firstBatch: { writes: number[] }[] }).firstBatch.map(({ writes }) => writes)
  }
}
