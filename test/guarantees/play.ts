/** One writer and a reader of each kind, on a sharded cluster with sets of three members. */
import { createRandom, RequestFailedError, type Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { readers, type Anomaly, type Reader, type Run } from './cells.js'
import { anomaliesOf, type ReadEvent } from './history.js'

/** Anomalies of each of the {@link readers}. */
export type Played = readonly (readonly Anomaly[])[]

const faultAtMs = 3000
const faultEndsMs = 8000
const endMs = 11_000
/** When the orphans of a migration are gone. */
const orphansMs = 2500
const shard = 'shard02'

export async function play({ writeConcern, fault }: Run, seed: number): Promise<Played> {
  const cluster = await createSimulatedCluster({ seed, shards: 2, members: 3, emulate: '7.0', serverTimings: false })
  try {
    const story = new Story(cluster, createRandom(seed).fork('guarantees'))
    await story.prepare()
    return await story.run({ writeConcern, fault })
  } finally {
    await cluster.stop()
  }
}

class Story {
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #acknowledgedMs = new Map<number, number>()
  #beganMs = 0
  #connections = 1

  constructor(cluster: SimulatedCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  async prepare(): Promise<void> {
    for (const member of this.#cluster.shards.flatMap((name) => this.#cluster.membersOf(name)))
      await this.#try({ setParameter: 1, orphanCleanupDelaySecs: 1, $db: 'admin' }, 1, member)
    for (const command of [
      { enableSharding: 'app', primaryShard: 'shard01' },
      { shardCollection: 'app.things', key: { x: 1 } },
      { split: 'app.things', middle: { x: 0 } },
      { balancerStop: 1 },
    ])
      await this.#must({ ...command, $db: 'admin' })
    await this.#move(shard)
    await this.#cluster.advance(orphansMs)
    const documents = [{ _id: 1, x: 1, writes: [] }]
    await this.#must({ insert: 'things', documents, writeConcern: { w: 3 } })
  }

  async run({ writeConcern, fault }: Run): Promise<Played> {
    this.#beganMs = this.#cluster.now()
    const reads = readers.map((reader) => this.#read(reader, this.#random.fork(JSON.stringify(reader))))
    const writing = this.#write(writeConcern === '1' ? 1 : 'majority', this.#random.fork('writer'))
    await this.#cluster.advance(faultAtMs)
    await this.#strike(fault)
    const events = await Promise.all(reads)
    await writing
    await this.#cluster.faults.heal()
    await this.#cluster.advance(20_000)
    const kept = new Set((await this.#find({ readConcern: { level: 'majority' } }, 1))?.[0] ?? [])
    return events.map((each) => [...anomaliesOf(each, { acknowledgedMs: this.#acknowledgedMs, kept })].sort())
  }

  get #elapsedMs(): number {
    return this.#cluster.now() - this.#beganMs
  }

  async #write(w: 1 | 'majority', random: Random): Promise<void> {
    const connection = ++this.#connections
    for (let write = 1; this.#elapsedMs < endMs; write++) {
      const update = {
        update: 'things',
        updates: [{ q: { x: 1 }, u: { $push: { writes: write } } }],
        writeConcern: { w, wtimeout: 1000 },
      }
      const reply = await this.#try(update, connection)
      if (reply?.['nModified'] === 1 && reply['writeConcernError'] === undefined)
        this.#acknowledgedMs.set(write, this.#cluster.now())
      await this.#cluster.advance(20 + random.below(150))
    }
  }

  async #read({ readConcern, readPreference }: Reader, random: Random): Promise<ReadEvent[]> {
    const connection = ++this.#connections
    const events: ReadEvent[] = []
    while (this.#elapsedMs < endMs) {
      const beganMs = this.#cluster.now()
      const copies = await this.#find(
        { readConcern: { level: readConcern }, $readPreference: { mode: readPreference }, maxTimeMS: 2000 },
        connection,
      )
      if (copies !== null) events.push({ beganMs, copies })
      await this.#cluster.advance(20 + random.below(200))
    }
    return events
  }

  /** Without the shard key, so that all shards are asked. Null: the read failed. */
  async #find(options: Document, connection: number): Promise<number[][] | null> {
    const reply = await this.#try({ find: 'things', filter: { _id: 1 }, ...options }, connection)
    if (reply?.['ok'] !== 1) return null
    return (reply['cursor'] as { firstBatch: { writes: number[] }[] }).firstBatch.map(({ writes }) => writes)
  }

  async #strike(fault: Run['fault']): Promise<void> {
    const cluster = this.#cluster
    const primary = await this.#primary()
    const others = cluster.membersOf(shard).filter((member) => member !== primary)
    if (fault === 'delay') await cluster.faults.apply(`delay replication of the secondaries of ${shard} by 2s`)
    else if (fault === 'partition')
      for (const other of others) await cluster.faults.apply(`partition ${primary} from ${other}`)
    else if (fault === 'migration') return this.#moveBackAndForth()
    else if (fault === 'crash') await cluster.crash(primary)
    await cluster.advance(faultEndsMs - this.#elapsedMs)
    await cluster.faults.heal()
    if (fault === 'crash') await cluster.restart(primary)
  }

  async #moveBackAndForth(): Promise<void> {
    for (const to of ['shard01', shard]) {
      await this.#move(to)
      await this.#cluster.advance(orphansMs)
    }
  }

  async #primary(): Promise<string> {
    for (const member of this.#cluster.membersOf(shard))
      if ((await this.#cluster.describe(member))['isWritable'] === true) return member
    throw new Error(`${shard} has no primary`)
  }

  #move(to: string): Promise<Document> {
    return this.#must({ moveChunk: 'app.things', find: { x: 1 }, to, $db: 'admin' })
  }

  async #must(command: Document): Promise<Document> {
    const reply = await this.#try(command, 1)
    if (reply?.['ok'] !== 1) throw new Error(JSON.stringify(reply))
    return reply
  }

  async #try(command: Document, connectionId: number, to = this.#cluster.mongos[0]!): Promise<Document | null> {
    try {
      const document = encode({ ...command, $db: command['$db'] ?? 'app' })
      const body = await this.#cluster.command(document, { connectionId, to })
      return decode(body, { promoteLongs: true })
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }
}
