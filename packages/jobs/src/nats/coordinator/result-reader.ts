/** Reads the results of a run in their order, also those of earlier coordinators. */
import { DeliverPolicy, type ConsumerMessages } from '@nats-io/jetstream'
import type { JobOutcome } from '../../threads/thread-job.js'
import { messageOf } from '@shardlab/nats'
import { unpack } from '../codec.js'
import { isNoMessage, isNotFound, persist, type JetStream } from '../jet-stream.js'
import type { ResultPart } from '../messages.js'
import { keyOf, type RunNames } from '../names.js'
import { join } from '../parts.js'

export class ResultReader<Output> {
  readonly #jetStream: JetStream
  readonly #names: RunNames
  readonly #onResult: (key: string, outcome: JobOutcome<Output>) => void
  /** Parts of incomplete results, by key and attempt. */
  readonly #parts = new Map<string, (Uint8Array | undefined)[]>()
  readonly #behind: { readonly seq: number; readonly resolve: () => void }[] = []
  #lastSeq = 0
  #messages: ConsumerMessages | null = null
  #isEnded = false

  constructor(jetStream: JetStream, names: RunNames, onResult: (key: string, outcome: JobOutcome<Output>) => void) {
    this.#jetStream = jetStream
    this.#names = names
    this.#onResult = onResult
    // Opened again after the last result.
    jetStream.link.onReconnect(() => this.#messages?.stop())
  }

  /** Resolves after `end`. @throws OptionError if the server is gone or the stream was removed */
  async read(): Promise<void> {
    while (!this.#isEnded) {
      await this.#open()
      try {
        for await (const { seq, subject, data } of this.#messages!) {
          this.#lastSeq = seq
          this.#read(subject, data)
          while (this.#behind.length > 0 && this.#behind[0]!.seq <= seq) this.#behind.shift()!.resolve()
        }
      } catch (error) {
        const gone = this.#jetStream.link.error()
        if (gone !== null) throw gone
        // Opened again after the last result, unless the stream was removed.
        if (isNotFound(error)) throw error
      }
    }
  }

  /** Resolves when all results that are stored now have been read. */
  async caughtUp(): Promise<void> {
    const seq = await this.#storedSeq()
    if (seq > this.#lastSeq) await new Promise<void>((resolve) => this.#behind.push({ seq, resolve }))
  }

  async isUpToDate(): Promise<boolean> {
    return (await this.#storedSeq()) <= this.#lastSeq
  }

  end(): void {
    this.#isEnded = true
    this.#messages?.stop()
  }

  async #open(): Promise<void> {
    const { dataStream, result } = this.#names
    const { client } = this.#jetStream
    this.#messages = await persist(this.#jetStream, async () => {
      const consumer = await client.consumers.get(dataStream, {
        filter_subjects: result('*'),
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: this.#lastSeq + 1,
      })
      return consumer.consume()
    })
    if (this.#isEnded) this.#messages.stop()
  }

  async #storedSeq(): Promise<number> {
    try {
      const { dataStream, result } = this.#names
      const last = await persist(this.#jetStream, () =>
        this.#jetStream.manager.streams.getMessage(dataStream, { last_by_subj: result('*') }),
      )
      return last?.seq ?? 0
    } catch (error) {
      if (isNoMessage(error)) return 0
      throw error
    }
  }

  /** A stranger may have sent it. */
  #read(subject: string, data: Uint8Array): void {
    const { address, tell } = this.#jetStream.link
    try {
      this.#see(keyOf(subject), unpack<ResultPart>(data))
    } catch (error) {
      tell(
        `NATS at ${address}: a result with the subject ${subject} cannot be read and is ignored: ${messageOf(error)}`,
      )
    }
  }

  #see(key: string, { attempt, part, parts, bytes }: ResultPart): void {
    const id = `${key} ${attempt}`
    const found = this.#parts.get(id) ?? new Array<Uint8Array | undefined>(parts).fill(undefined)
    found[part] = bytes
    this.#parts.set(id, found)
    if (found.some((each) => each === undefined)) return
    this.#parts.delete(id)
    this.#onResult(key, unpack<JobOutcome<Output>>(join(found as Uint8Array[])))
  }
}
