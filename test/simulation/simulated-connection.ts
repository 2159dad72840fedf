/** What every client of a simulated cluster has: a connection to its routers, a session, and time to wait. */
import { RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'

/** A reply, or null: the member went away. */
export type Reply = Document | null

export class SimulatedConnection {
  protected readonly random: Random
  readonly #cluster: SimulatedCluster
  readonly #connectionId: number
  readonly #lsid: Document
  readonly #onSend: () => void
  #txnNumber = 0

  /** `onSend` is called with every command that leaves. */
  constructor(cluster: SimulatedCluster, connectionId: number, random: Random, onSend: () => void = () => {}) {
    this.#cluster = cluster
    this.#connectionId = connectionId
    this.random = random
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
    this.#onSend = onSend
  }

  anyRouter(): string {
    return this.#cluster.mongos[this.random.below(this.#cluster.mongos.length)]!
  }

  /** Sends a command once. `field`: the name of the argument that takes the documents. */
  protected async send(command: Document, to: string, documents: readonly Document[] = [], field = 'documents'): Promise<Reply> {
    const sequences = documents.length === 0 ? [] : [[field, documents.map(encode)] as const]
    this.#onSend()
    try {
      const body = await this.#cluster.command(encode(command), { to, sequences, connectionId: this.#connectionId })
      return decode(body, { promoteLongs: true })
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
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

/** Every error in a reply: its own, those of a write batch's statements, those of a bulkWrite's, those of single shards. */
export function errorsOf(reply: Document): Document[] {
  const ofShards = (Object.values(reply['raw'] ?? {}) as Document[]).filter(({ ok }) => ok === 0)
  const ofStatements = (reply['writeErrors'] as Document[] | undefined) ?? []
  const ofBulk = ((reply['cursor']?.firstBatch as Document[] | undefined) ?? []).filter(({ ok, code }) => ok === 0 && code !== undefined)
  return [...(reply['ok'] === 1 ? [] : [reply]), ...ofStatements, ...ofBulk, ...ofShards]
}
