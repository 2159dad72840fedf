/** A sharded cluster with sets of three members, one of which a fault strikes. */
import { createRandom, RequestFailedError, type Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { Fault } from './cells.js'

const faultAtMs = 3000
const faultEndsMs = 8000
export const endMs = 11_000
/** When the orphans of a migration are gone. */
const orphansMs = 2500
const shard = 'shard02'

/** @param run makes a story of the new cluster, and plays it */
export async function onCluster<T>(
  seed: number,
  run: (cluster: SimulatedCluster, random: Random) => Promise<T>,
): Promise<T> {
  const cluster = await createSimulatedCluster({ seed, shards: 2, members: 3, emulate: '7.0', serverTimings: false })
  try {
    return await run(cluster, createRandom(seed).fork('guarantees'))
  } finally {
    await cluster.stop()
  }
}

export abstract class FaultStory {
  protected readonly cluster: SimulatedCluster
  protected readonly random: Random
  #beganMs = 0
  #connections = 1

  constructor(cluster: SimulatedCluster, random: Random) {
    this.cluster = cluster
    this.random = random
  }

  /** `app.things`: keys below 0 on shard01, others on the shard that the fault strikes. */
  protected async shardThings(): Promise<void> {
    for (const member of this.cluster.shards.flatMap((name) => this.cluster.membersOf(name)))
      await this.try({ setParameter: 1, orphanCleanupDelaySecs: 1, $db: 'admin' }, 1, member)
    for (const command of [
      { enableSharding: 'app', primaryShard: 'shard01' },
      { shardCollection: 'app.things', key: { x: 1 } },
      { split: 'app.things', middle: { x: 0 } },
      { balancerStop: 1 },
    ])
      await this.must({ ...command, $db: 'admin' })
    await this.#move(shard)
    await this.cluster.advance(orphansMs)
  }

  protected begin(): void {
    this.#beganMs = this.cluster.now()
  }

  protected nextConnection(): number {
    return ++this.#connections
  }

  protected get elapsedMs(): number {
    return this.cluster.now() - this.#beganMs
  }

  /** Resolves when the fault is over, but not everything that follows from it. */
  protected async strike(fault: Fault): Promise<void> {
    const { cluster } = this
    await cluster.advance(faultAtMs)
    const primary = await this.#primary()
    const others = cluster.membersOf(shard).filter((member) => member !== primary)
    if (fault === 'delay') await cluster.faults.apply(`delay replication of the secondaries of ${shard} by 2s`)
    else if (fault === 'partition')
      for (const other of others) await cluster.faults.apply(`partition ${primary} from ${other}`)
    else if (fault === 'migration') return this.#moveBackAndForth()
    else if (fault === 'crash') await cluster.crash(primary)
    await cluster.advance(faultEndsMs - this.elapsedMs)
    await cluster.faults.heal()
    if (fault === 'crash') await cluster.restart(primary)
  }

  protected async settle(): Promise<void> {
    await this.cluster.faults.heal()
    await this.cluster.advance(20_000)
  }

  async #moveBackAndForth(): Promise<void> {
    for (const to of ['shard01', shard]) {
      await this.#move(to)
      await this.cluster.advance(orphansMs)
    }
  }

  async #primary(): Promise<string> {
    for (const member of this.cluster.membersOf(shard))
      if ((await this.cluster.describe(member))['isWritable'] === true) return member
    throw new Error(`${shard} has no primary`)
  }

  #move(to: string): Promise<Document> {
    return this.must({ moveChunk: 'app.things', find: { x: 1 }, to, $db: 'admin' })
  }

  protected async must(command: Document): Promise<Document> {
    const reply = await this.try(command, 1)
    if (reply?.['ok'] !== 1) throw new Error(JSON.stringify(reply))
    return reply
  }

  protected async try(command: Document, connectionId: number, to = this.cluster.mongos[0]!): Promise<Document | null> {
    try {
      const document = encode({ ...command, $db: command['$db'] ?? 'app' })
      const body = await this.cluster.command(document, { connectionId, to })
      return decode(body, { promoteLongs: true })
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }
}
