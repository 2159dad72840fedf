/** A client of a simulated cluster: its connection, its session, and what drivers do when an answer does not come. */
import { RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'

/** Codes with which a member says that another one does not answer. */
const unavailable: ReadonlySet<number> = new Set([6, 133])

/** A reply, or null: the mongos itself went away. */
export type Reply = Document | null

export interface Write {
  readonly command: Document
  readonly documents: readonly Document[]
  /** Name of the argument that takes the documents. */
  readonly field: 'documents' | 'updates' | 'deletes'
}

/** Which statements of a write are certainly done; of the others nobody knows. */
export interface WriteResult {
  readonly done: readonly boolean[]
  readonly n: number
}

export class SimulatedClient {
  readonly #cluster: SimulatedCluster
  readonly #connectionId: number
  readonly #random: Random
  readonly #lsid: Document
  readonly #onSend: () => void
  #txnNumber = 0

  /** `onSend` is called with every command that leaves. */
  constructor(cluster: SimulatedCluster, connectionId: number, random: Random, onSend: () => void = () => {}) {
    this.#cluster = cluster
    this.#connectionId = connectionId
    this.#random = random
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
    this.#onSend = onSend
  }

  /** Sends a command to any mongos, once. */
  async once(command: Document, documents: readonly Document[] = [], field = 'documents'): Promise<Reply> {
    const to = this.#cluster.mongos[this.#random.below(this.#cluster.mongos.length)]!
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

  /** Repeats a command that may be repeated until nothing is in its way. `settled` are further codes that end it well. */
  async untilDone(command: Document, settled: readonly number[] = []): Promise<Document> {
    for (let attempt = 1; attempt <= 2000; attempt++) {
      const reply = await this.once(command)
      if (reply !== null && isFinal(reply, command, settled)) return reply
      await this.pause(50)
    }
    throw new Error(`${firstName(command)} did not get through in 2000 attempts`)
  }

  /** A write that is sent once: of what was not acknowledged nobody knows whether it happened. */
  async write(write: Write): Promise<WriteResult> {
    const { command, documents, field } = write
    const reply = await this.once(command, documents, field)
    return resultOf(write, reply)
  }

  /** A retryable write: repeated with the same number until all of it is acknowledged; now and then once more for nothing. */
  async writeRetryably({ command, documents, field }: Write): Promise<WriteResult> {
    const numbered = { ...command, lsid: this.#lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }
    const write: Write = { command: numbered, documents, field }
    for (let attempt = 1; attempt <= 2000; attempt++) {
      const result = await this.write(write)
      if (result.done.every(Boolean)) {
        if (this.#random.chance(1, 3)) await this.#repeatForNothing(write, result)
        return result
      }
      await this.pause(50)
    }
    throw new Error(`retryable ${firstName(command)} did not get through in 2000 attempts`)
  }

  async #repeatForNothing(write: Write, result: WriteResult): Promise<void> {
    const again = await this.write(write)
    if (again.done.every(Boolean) && again.n !== result.n) {
      throw new Error(`a repeated ${firstName(write.command)} says n: ${again.n} where it said ${result.n} before`)
    }
  }

  /**
   * A retryable command that is no write batch (findAndModify, bulkWrite): repeated with the same number until the answer is final;
   * now and then once more for nothing, which `did` compares: what was done, null for nothing. Who did nothing leaves nothing in the
   * history and may do something when repeated. `settled` are codes of errors that are answers.
   */
  async retryably(command: Document, did: (reply: Document) => number | string | null, settled: readonly number[] = []): Promise<Document> {
    const numbered = { ...command, lsid: this.#lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }
    const reply = await this.untilDone(numbered, settled)
    if (!this.#random.chance(1, 3)) return reply
    const again = await this.untilDone(numbered, settled)
    const [first, second] = [did(reply), did(again)]
    if (first !== null && first !== second) throw new Error(`a repeated ${firstName(command)} did ${second} where it did ${first} before`)
    return again
  }

  /** Waits that many milliseconds. */
  wait(ms: number): Promise<void> {
    return this.#cluster.advance(ms)
  }

  /** Waits up to that many milliseconds. */
  pause(mostMs: number): Promise<void> {
    return this.#cluster.advance(this.#random.fraction() * mostMs)
  }
}

/** Errors inside a reply: those of a write batch's statements, those of a bulkWrite's, those of single shards. */
function innerErrors(reply: Document): Document[] {
  const ofShards = (Object.values(reply['raw'] ?? {}) as Document[]).filter(({ ok }) => ok === 0)
  const ofBulk = ((reply['cursor']?.firstBatch as Document[] | undefined) ?? []).filter(({ ok, code }) => ok === 0 && code !== undefined)
  return [...((reply['writeErrors'] as Document[] | undefined) ?? []), ...ofBulk, ...ofShards]
}

/** Is this an answer, and not the news that a member is away? @throws Error for any other error */
function isFinal(reply: Document, command: Document, settled: readonly number[]): boolean {
  const errors = [...(reply['ok'] === 1 ? [] : [reply]), ...innerErrors(reply)].filter(({ code }) => !settled.includes(code))
  for (const error of errors) mustBeUnavailable(error, command)
  return errors.length === 0
}

function resultOf({ command, documents }: Write, reply: Reply): WriteResult {
  if (reply === null) return { done: documents.map(() => false), n: 0 }
  if (reply['ok'] !== 1) {
    mustBeUnavailable(reply, command)
    return { done: documents.map(() => false), n: 0 }
  }
  const failed = new Set<number>()
  for (const error of (reply['writeErrors'] as Document[] | undefined) ?? []) {
    mustBeUnavailable(error, command)
    failed.add(error['index'])
  }
  const firstFailed = Math.min(...failed, documents.length)
  const ordered = command['ordered'] !== false
  return { done: documents.map((_, i) => (ordered ? i < firstFailed : !failed.has(i))), n: reply['n'] }
}

function mustBeUnavailable(error: Document, command: Document): void {
  const { code, errmsg } = error
  // Several members are away, each in its own way.
  const parts = code === 65 ? (errmsg as string).split(' :: and :: ') : []
  if (parts.length > 0 && parts.every((part) => /Write results unavailable from|Could not find host matching/.test(part))) return
  if (!unavailable.has(code)) throw new Error(`${firstName(command)} failed with ${code} ${errmsg}`)
}

function firstName(command: Document): string {
  return `${Object.keys(command)[0]} ${String(Object.values(command)[0])}`
}
