/**
 * A client for tests: sends each command once through the simulated client, and repeats repeatable
 * commands until they are done. Without a reply it records an unknown outcome.
 */
import type { Random } from '@shardlab/actor'
import { Binary, encode, Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { createClient, errorsOf, type Client } from '@shardlab/scenario'

/** A reply; null: the outcome is unknown. */
type Reply = Document | null

/** Tests do not wait long for a mongos that is down. */
const serverSelectionTimeoutMs = 1000
/** A mongos that goes away is noticed without heartbeats; tests let hours pass. */
const heartbeatMs = 3_600_000

/**
 * Codes of errors with which a member reports that another one does not reply, or is not primary of
 * its set any more.
 */
const unavailable: ReadonlySet<number> = new Set([6, 91, 133, 189, 10_107, 11_600, 11_602, 13_435, 13_436])

export interface Write {
  readonly command: Document
  readonly documents: readonly Document[]
  /** Name of the argument that takes the documents. */
  readonly field: 'documents' | 'updates' | 'deletes'
}

/** The statements of a write that are certainly done; the outcome of others is unknown. */
export interface WriteResult {
  readonly done: readonly boolean[]
  readonly n: number
}

export class PatientClient {
  readonly #random: Random
  readonly #cluster: SimulatedCluster
  readonly #client: Client
  readonly #lsid: Document
  #txnNumber = 0

  /** @param onSend called for every command sent */
  constructor(cluster: SimulatedCluster, random: Random, onSend: () => void = () => {}) {
    this.#cluster = cluster
    this.#client = createClient(cluster, { heartbeatMs, serverSelectionTimeoutMs, onCommand: onSend })
    this.#random = random
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
  }

  /** Sends a command to any mongos, once. `field`: name of the argument with the documents. */
  async once(command: Document, documents: readonly Document[] = [], field = 'documents'): Promise<Reply> {
    const sequences = documents.length === 0 ? [] : [[field, documents.map(encode)] as const]
    return (await this.#cluster.during(this.#client.run(command, { sequences, retryable: false }))).reply
  }

  wait(ms: number): Promise<void> {
    return this.#cluster.advance(ms)
  }

  /** Waits a random time of at most `mostMs`. */
  pause(mostMs: number): Promise<void> {
    return this.wait(this.#random.fraction() * mostMs)
  }

  /**
   * Repeats a repeatable command until it succeeds. `settled`: further codes that count as success.
   */
  async untilDone(command: Document, settled: readonly number[] = []): Promise<Document> {
    for (let attempt = 1; attempt <= 2000; attempt++) {
      const reply = await this.once(command)
      if (reply !== null && isFinal(reply, command, settled)) return reply
      await this.pause(50)
    }
    throw new Error(`${firstName(command)} did not get through in 2000 attempts`)
  }

  /** A write that is sent once: the outcome of statements that are not acknowledged is unknown. */
  async write(write: Write): Promise<WriteResult> {
    const { command, documents, field } = write
    const reply = await this.once(command, documents, field)
    return resultOf(write, reply)
  }

  /**
   * A retryable write: repeated with the same number until it is acknowledged completely, and
   * sometimes once more.
   */
  async writeRetryably({ command, documents, field }: Write): Promise<WriteResult> {
    const numbered = this.#numbered(command)
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

  /**
   * The command with the next transaction number of the session, so that repeating it has no
   * effect.
   */
  #numbered(command: Document): Document {
    return { ...command, lsid: this.#lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }
  }

  async #repeatForNothing(write: Write, result: WriteResult): Promise<void> {
    const again = await this.write(write)
    if (again.done.every(Boolean) && again.n !== result.n) {
      throw new Error(`a repeated ${firstName(write.command)} says n: ${again.n} where it said ${result.n} before`)
    }
  }

  /**
   * A retryable command that is not a write batch (findAndModify, bulkWrite): repeated with the
   * same number until the reply is final, and sometimes once more to compare the replies with `did`
   * (null: no effect). A command without effect leaves nothing in the history, so a repetition may
   * have one. `settled`: codes of errors that are final.
   */
  async retryably(
    command: Document,
    did: (reply: Document) => number | string | null,
    settled: readonly number[] = [],
  ): Promise<Document> {
    const numbered = this.#numbered(command)
    const reply = await this.untilDone(numbered, settled)
    if (!this.#random.chance(1, 3)) return reply
    const again = await this.untilDone(numbered, settled)
    const [first, second] = [did(reply), did(again)]
    if (first !== null && first !== second)
      throw new Error(`a repeated ${firstName(command)} did ${second} where it did ${first} before`)
    return again
  }
}

/**
 * Whether this is a final reply, and not an error because a member is down. @throws Error for any
 * other error
 */
function isFinal(reply: Document, command: Document, settled: readonly number[]): boolean {
  const ofConcern = (reply['writeConcernError'] as Document | undefined) ?? []
  const errors = [...errorsOf(reply), ...[ofConcern].flat()].filter(({ code }) => !settled.includes(code))
  for (const error of errors) mustBeUnavailable(error, command)
  return errors.length === 0
}

function resultOf({ command, documents }: Write, reply: Reply): WriteResult {
  if (reply === null) return { done: documents.map(() => false), n: 0 }
  const failure = (reply['ok'] === 1 ? reply['writeConcernError'] : reply) as Document | undefined
  if (failure !== undefined) {
    mustBeUnavailable(failure, command)
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
  // Several members are down, each with its own error.
  const parts = code === 65 ? (errmsg as string).split(' :: and :: ') : []
  if (
    parts.length > 0 &&
    parts.every((part) => /Write results unavailable from|Could not find host matching/.test(part))
  )
    return
  if (!unavailable.has(code)) throw new Error(`${firstName(command)} failed with ${code} ${errmsg}`)
}

function firstName(command: Document): string {
  return `${Object.keys(command)[0]} ${String(Object.values(command)[0])}`
}
