/** The coordinator of a run: publishes its jobs, and reads each result once. */
import { createHash } from 'node:crypto'
import type { Subscription } from '@nats-io/transport-node'
import { connectNats, listen, OptionError, type NatsLink } from '@shardlab/nats'
import { buildVersion } from '../../build-version.js'
import { outputOf, type JobOutcome } from '../../threads/thread-job.js'
import { JobLostError, type Job, type JobKind, type JobQueue } from '../../types.js'
import { pack } from '../codec.js'
import {
  isAlreadyThere,
  isNoMessage,
  isNotFound,
  openJetStream,
  persist,
  publish,
  type JetStream,
} from '../jet-stream.js'
import { readUp, type TodoMessage, type UpMessage } from '../messages.js'
import { checkName, consumerName, keyOf, namesOf, newId, wakeSubject, type RunNames } from '../names.js'
import { partBytesOf, split } from '../parts.js'
import type { CoordinatorLock } from './coordinator-lock.js'
import { openRun, type OpenRun } from './open-run.js'
import type { NatsQueueOptions } from './options.js'
import { ResultReader } from './result-reader.js'

/** More jobs than workers can have in progress, and few enough to withdraw them quickly. */
const depth = 1000
const checkEveryMs = 2000
const removalMs = 2000

interface Waiting<Input, Output> {
  readonly job: Job<Input>
  readonly resolve: (output: Output | null) => void
  readonly reject: (error: Error) => void
  /** In the stream of jobs; null: being published. */
  seq: number | null
  isWithdrawn: boolean
  /** It was lost once. */
  isRepeated: boolean
}

/** @throws OptionError if the server or the name cannot be used, or the run is another one */
export async function openNatsQueue<Input, Output>(
  kind: JobKind<Input, Output>,
  options: NatsQueueOptions,
): Promise<NatsQueue<Input, Output>> {
  const names = namesOf(options.name === undefined ? newId() : checkName(options.name))
  const link = await connectNats(options.nats, `shardlab ${kind.name} ${names.name}`, options.onNews)
  let queue: NatsQueue<Input, Output> | null = null
  try {
    const partBytes = partBytesOf(link)
    const jetStream = await openJetStream(link)
    const { version = buildVersion(), ackWaitMs } = options
    // They may be larger than a message.
    const parameters = createHash('sha256')
      .update(options.parameters ?? '')
      .digest('hex')
    const run = await openRun(jetStream, names, { kind: kind.name, version, parameters }, ackWaitMs)
    queue = new NatsQueue<Input, Output>(jetStream, names, { partBytes, ...run })
    await queue.begin()
    return queue
  } catch (error) {
    // One that was resumed is kept.
    if (queue?.isResumed === false) await queue.end()
    else {
      queue?.leave()
      await link.close()
    }
    throw error
  }
}

export class NatsQueue<Input, Output> implements JobQueue<Input, Output> {
  readonly depth = depth
  readonly name: string
  /** Without password. */
  readonly address: string
  /** An earlier coordinator has begun the run. */
  readonly isResumed: boolean
  /** Results of an earlier coordinator. */
  stored = 0
  readonly #jetStream: JetStream
  readonly #names: RunNames
  readonly #partBytes: number
  readonly #reader: ResultReader<Output>
  readonly #waiting = new Map<string, Waiting<Input, Output>>()
  /** Of jobs that have not been given to this coordinator yet. */
  readonly #early = new Map<string, JobOutcome<Output>>()
  readonly #done = new Set<string>()
  readonly #lock: CoordinatorLock
  readonly #up: Subscription
  readonly #checks: NodeJS.Timeout
  #isWaking = false
  #isStopped = false
  #isChecking = false
  #failure: Error | null = null
  #ending: Promise<void> | null = null

  constructor(
    jetStream: JetStream,
    names: RunNames,
    { partBytes, isResumed, lock }: OpenRun & { readonly partBytes: number },
  ) {
    this.#jetStream = jetStream
    this.#names = names
    this.name = names.name
    this.address = jetStream.link.address
    this.isResumed = isResumed
    this.#partBytes = partBytes
    this.#reader = new ResultReader(jetStream, names, (key, outcome) => this.#onResult(key, outcome))
    this.#lock = lock
    this.#up = listen(this.#link, names.up('*'), ({ subject, data }) => this.#onUp(keyOf(subject), readUp(data)))
    this.#checks = setInterval(() => void this.#check(), checkEveryMs)
    this.#link.onGone((error) => this.#fail(error))
    lock.onLost((error) => this.#fail(error))
    this.#link.onReconnect(() => void lock.check().catch((error: unknown) => this.#fail(error)))
  }

  /** Reads the stored results. */
  async begin(): Promise<void> {
    const reading = this.#reader.read()
    reading.catch((error: unknown) => this.#fail(error))
    await Promise.race([this.#reader.caughtUp(), reading])
    this.stored = this.#early.size
  }

  /** Leaves the run on the server. */
  leave(): void {
    clearInterval(this.#checks)
    this.#reader.end()
  }

  async run(job: Job<Input>): Promise<Output | null> {
    if (this.#failure !== null) throw this.#failure
    const early = this.#early.get(job.key)
    if (early !== undefined) {
      this.#early.delete(job.key)
      this.#done.add(job.key)
      return outputOf(early)
    }
    return new Promise((resolve, reject) => {
      const waiting = { job, resolve, reject, seq: null, isWithdrawn: false, isRepeated: false }
      this.#waiting.set(job.key, waiting)
      this.#publish(waiting).catch((error: unknown) => this.#fail(error))
    })
  }

  post(key: string, message: unknown): void {
    this.#send(this.#names.down(key), pack(message))
  }

  async withdraw(): Promise<void> {
    if (this.#failure !== null) return
    const all = [...this.#waiting.values()]
    for (const waiting of all) waiting.isWithdrawn = true
    await this.#withdrawUntaken(all).catch((error: unknown) => this.#fail(error))
  }

  stop(): void {
    this.#isStopped = true
    this.#send(this.#names.stop)
  }

  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    this.leave()
    this.#up.unsubscribe()
    if (this.#link.error() === null) await Promise.race([this.#remove(), timeout(removalMs)])
    // Last: another coordinator of the name would find a part of the run.
    this.#lock.end()
    await this.#link.close()
  }

  get #link(): NatsLink {
    return this.#jetStream.link
  }

  /** Callers may send while the connection ends. */
  #send(subject: string, bytes?: Uint8Array): void {
    if (!this.#link.connection.isClosed()) this.#link.connection.publish(subject, bytes)
  }

  async #remove(): Promise<void> {
    const { manager } = this.#jetStream
    const { todoStream, dataStream, ended } = this.#names
    if (!(await this.#lock.isHeld().catch(() => false))) return
    await Promise.allSettled([manager.streams.delete(todoStream), manager.streams.delete(dataStream)])
    this.#link.connection.publish(ended)
    await this.#link.connection.flush().catch(() => {})
  }

  async #publish(waiting: Waiting<Input, Output>): Promise<void> {
    const { key, input, msMax = null } = waiting.job
    const { todoStream, todo } = this.#names
    const bytes = pack(input)
    const about = { msMax, partBytes: this.#partBytes }
    const message: TodoMessage =
      bytes.length <= this.#partBytes
        ? { ...about, input: bytes, parts: [], levels: 0 }
        : { ...about, input: null, ...(await this.#storeAll(key, bytes)) }
    try {
      waiting.seq = await publish(this.#jetStream, todoStream, todo(key), pack(message))
    } catch (error) {
      if (!isAlreadyThere(error)) throw error
      waiting.seq = await this.#seqOf(key)
    }
    if (waiting.isWithdrawn) await this.#withdrawUntaken([waiting])
    else this.#wake()
  }

  /** Lists of parts that exceed one message are stored in parts, too. */
  async #storeAll(key: string, bytes: Uint8Array): Promise<Pick<TodoMessage, 'parts' | 'levels'>> {
    let parts = await this.#store(key, bytes)
    let levels = 1
    for (let list = pack(parts); list.length > this.#partBytes; list = pack(parts), levels++)
      parts = await this.#store(key, list)
    return { parts, levels }
  }

  /** @returns the sequence numbers of the parts */
  #store(key: string, bytes: Uint8Array): Promise<number[]> {
    const { dataStream, input } = this.#names
    return Promise.all(
      split(bytes, this.#partBytes).map((part) => publish(this.#jetStream, dataStream, input(key), part)),
    )
  }

  /** null: the job has just been acknowledged. */
  async #seqOf(key: string): Promise<number | null> {
    try {
      const { todoStream, todo } = this.#names
      const message = await persist(this.#jetStream, () =>
        this.#jetStream.manager.streams.getMessage(todoStream, { last_by_subj: todo(key) }),
      )
      return message?.seq ?? null
    } catch (error) {
      if (isNotFound(error) || isNoMessage(error)) return null
      throw error
    }
  }

  /** Those that are being published follow when they are. */
  async #withdrawUntaken(all: readonly Waiting<Input, Output>[]): Promise<void> {
    const { delivered } = await persist(this.#jetStream, () =>
      this.#jetStream.manager.consumers.info(this.#names.todoStream, consumerName),
    )
    const untaken = all.filter(({ seq }) => seq !== null && seq > delivered.stream_seq)
    await Promise.all(
      untaken.map(async ({ job: { key }, seq, resolve }) => {
        await this.#delete(key, seq!)
        this.#waiting.delete(key)
        resolve(null)
      }),
    )
  }

  /** A purge of its subject would end the leases of other jobs as well (nats-server 2.9). */
  async #delete(key: string, seq: number): Promise<void> {
    const { manager } = this.#jetStream
    try {
      await persist(this.#jetStream, () => manager.streams.deleteMessage(this.#names.todoStream, seq, false))
    } catch (error) {
      // A worker has acknowledged it, or has given it back.
      if ((await this.#seqOf(key)) === seq) throw error
    }
  }

  /** Once for all jobs that are published together. */
  #wake(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    setImmediate(() => {
      this.#isWaking = false
      this.#send(wakeSubject)
    })
  }

  #onResult(key: string, outcome: JobOutcome<Output>): void {
    if (this.#done.has(key)) return
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) {
      if (!this.#early.has(key)) this.#early.set(key, outcome)
      return
    }
    this.#done.add(key)
    this.#waiting.delete(key)
    try {
      waiting.resolve(outputOf(outcome))
    } catch (error) {
      waiting.reject(error as Error)
    }
  }

  #onUp(key: string, { attempt, type, content }: UpMessage): void {
    if (type === 'taken' && this.#isStopped) this.stop()
    if (type === 'message') this.#waiting.get(key)?.job.onMessage?.(content, attempt)
    if (type === 'returned') this.#onReturned(key, content as number | null)
    if (type === 'failed') this.#fail(new OptionError(String(content)))
  }

  /** The job waits for a worker again, so that it can be withdrawn. */
  #onReturned(key: string, seq: number | null): void {
    const waiting = this.#waiting.get(key)
    // Otherwise it is being published, and its number follows.
    if (waiting === undefined || waiting.seq === null || seq === null) return
    waiting.seq = Math.max(waiting.seq, seq)
    if (waiting.isWithdrawn) this.#withdrawUntaken([waiting]).catch((error: unknown) => this.#fail(error))
  }

  /** Finds jobs that the server will give to no worker any more. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#waiting.size === 0 || this.#failure !== null) return
    this.#isChecking = true
    try {
      const published = [...this.#waiting.values()].filter(({ seq }) => seq !== null)
      const { num_pending, num_ack_pending } = await persist(this.#jetStream, () =>
        this.#jetStream.manager.consumers.info(this.#names.todoStream, consumerName),
      )
      if (num_pending > 0 || num_ack_pending > 0 || !(await this.#reader.isUpToDate())) return
      for (const waiting of published) if (this.#waiting.has(waiting.job.key)) await this.#repeat(waiting)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isChecking = false
    }
  }

  async #repeat(waiting: Waiting<Input, Output>): Promise<void> {
    const { key } = waiting.job
    const seq = await this.#seqOf(key)
    if (seq !== null) await this.#delete(key, seq)
    if (waiting.isRepeated) {
      this.#waiting.delete(key)
      waiting.reject(
        new JobLostError(`job ${key} ended the workers that took it, or none of them has stored its result`),
      )
      return
    }
    waiting.isRepeated = true
    await this.#publish(waiting)
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return
    this.#failure = isNotFound(error)
      ? new OptionError(`the job ${this.name} was removed from NATS at ${this.address}`)
      : (error as Error)
    for (const { reject } of this.#waiting.values()) reject(this.#failure)
    this.#waiting.clear()
  }
}

const timeout = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref())
