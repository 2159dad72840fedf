/** What every client of a story has: the simulated client, a session of its own, and time that passes while it waits. */
import type { Random } from '@shardlab/actor'
import { Binary, encode, Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { createClient, type Client } from '@shardlab/scenario'

/** A reply, or null: the member went away. */
export type Reply = Document | null

/** Stories do not wait long for a mongos that is down. */
const serverSelectionTimeoutMs = 1000
/** A mongos that goes away is noticed all the same; stories let hours pass. */
const heartbeatMs = 3_600_000

export class StoryConnection {
  protected readonly random: Random
  readonly #cluster: SimulatedCluster
  readonly #client: Client
  readonly #lsid: Document
  #txnNumber = 0

  /** `onSend` is called with every command that leaves. */
  constructor(cluster: SimulatedCluster, random: Random, onSend: () => void = () => {}) {
    this.#cluster = cluster
    this.#client = createClient(cluster, { heartbeatMs, serverSelectionTimeoutMs, onCommand: onSend })
    this.random = random
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
  }

  /** One that answers, when there is one. */
  anyRouter(): string {
    const available = this.#client.available()
    const routers = available.length > 0 ? available : this.#cluster.mongos
    return routers[this.random.below(routers.length)]!
  }

  /** Sends a command once. `field`: the name of the argument that takes the documents; `to`: null for any mongos. */
  protected async send(command: Document, to: string | null, documents: readonly Document[] = [], field = 'documents'): Promise<Reply> {
    const sequences = documents.length === 0 ? [] : [[field, documents.map(encode)] as const]
    const options = { sequences, retryable: false, ...(to === null ? {} : { to }) }
    return (await this.#cluster.during(this.#client.run(command, options))).reply
  }

  /** The command with the next number of the session, by which repeating it does nothing more. */
  protected numbered(command: Document): Document {
    return { ...command, lsid: this.#lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }
  }

  /** Waits that many milliseconds. */
  wait(ms: number): Promise<void> {
    return this.#cluster.advance(ms)
  }

  /** Waits up to that many milliseconds. */
  pause(mostMs: number): Promise<void> {
    return this.wait(this.random.fraction() * mostMs)
  }
}
