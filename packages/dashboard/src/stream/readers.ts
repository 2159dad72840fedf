/** Queues of deltas, one for each reader of the stream. */
import type { Delta, NumberedDelta } from './deltas.js'
import { weightOf } from './weight.js'

export interface ReadersOptions {
  /** Deltas that make the present state. */
  readonly snapshot: () => Iterable<Delta>
  /** Called when the last reader has gone. */
  readonly abandoned: () => void
  /** Queues have reached their limits, and were replaced by snapshots. It may push deltas. */
  readonly overflowed: () => void
  readonly newId: () => string
  /** Deltas in a queue; more if its snapshot alone has more than half of them. */
  readonly queueMax?: number
  readonly readersMax?: number
  readonly leaseMs?: number
}

export interface Batch {
  readonly reader: string
  readonly deltas: readonly NumberedDelta[]
}

export class ReaderError extends Error {
  /** Determines the code of the reply. */
  override readonly name = 'OptionError'
}

/** A reply with texts of three bytes a character is still below the 16 MB of a document. */
const batchWeightMax = 3_000_000

interface Reader {
  readonly id: string
  /** The number of the first in the queue. */
  first: number
  /** The reader has received the deltas up to this number. */
  received: number
  queue: Delta[]
  /** As `ReadersOptions.queueMax`. */
  queueMax: number
  /** Ends the wait of its request. */
  wake: (() => void) | null
  lease: NodeJS.Timeout | null
}

export class Readers {
  readonly #options: Required<ReadersOptions>
  readonly #readers = new Map<string, Reader>()

  constructor(options: ReadersOptions) {
    this.#options = { queueMax: 20_000, readersMax: 100, leaseMs: 30_000, ...options }
  }

  get count(): number {
    return this.#readers.size
  }

  /**
   * Its queue begins with a snapshot. It is closed when it does not read for the lease.
   * @throws ReaderError there are too many
   */
  open(): string {
    const { readersMax, queueMax, newId } = this.#options
    if (this.#readers.size >= readersMax)
      throw new ReaderError(`the stream has ${readersMax} readers, which is the limit: close one.`)
    const reader: Reader = { id: newId(), first: 1, received: 0, queue: [], queueMax, wake: null, lease: null }
    this.#fill(reader)
    this.#readers.set(reader.id, reader)
    this.#renew(reader)
    return reader.id
  }

  /** No error for an unknown reader. */
  close(id: string): void {
    const reader = this.#readers.get(id)
    if (reader === undefined) return
    if (reader.lease !== null) clearTimeout(reader.lease)
    this.#readers.delete(id)
    reader.wake?.()
    if (this.#readers.size === 0) this.#options.abandoned()
  }

  closeAll(): void {
    for (const id of [...this.#readers.keys()]) this.close(id)
  }

  /** The snapshot has the delta already. */
  push(delta: Delta): void {
    let hasOverflowed = false
    for (const reader of this.#readers.values()) {
      if (reader.queue.length >= reader.queueMax) {
        this.#restart(reader)
        hasOverflowed = true
      } else reader.queue.push(delta)
      reader.wake?.()
    }
    // A delta that this pushes must not come before the present one.
    if (hasOverflowed) this.#options.overflowed()
  }

  /**
   * Drops the deltas up to `after`, and returns the following ones. Without any it waits, at most
   * `waitMs`. A repeated call gets the same deltas.
   * @throws ReaderError the reader is unknown, or `after` is not a number that it has received
   */
  async next(id: string, after: number, waitMs: number): Promise<Batch> {
    const reader = this.#readers.get(id)
    if (reader === undefined) throw new ReaderError(`there is no reader ${id}: open one without reader and after.`)
    const last = reader.first + reader.queue.length - 1
    if (!Number.isSafeInteger(after) || after < reader.received || after > last)
      throw new ReaderError(
        `after is ${after}; the reader ${id} has deltas after ${reader.received}, up to ${last}: give the number of the last delta that arrived.`,
      )
    reader.received = after
    if (after >= reader.first) {
      reader.queue.splice(0, after + 1 - reader.first)
      reader.first = after + 1
    }
    if (reader.queue.length === 0 && waitMs > 0) await this.#wait(reader, waitMs)
    if (this.#readers.has(id)) this.#renew(reader)
    return { reader: id, deltas: batchOf(reader) }
  }

  /** Ends the waits of all requests. */
  wakeAll(): void {
    for (const { wake } of this.#readers.values()) wake?.()
  }

  #wait(reader: Reader, waitMs: number): Promise<void> {
    // An earlier request whose reply was lost.
    reader.wake?.()
    if (reader.lease !== null) clearTimeout(reader.lease)
    reader.lease = null
    return new Promise((resolve) => {
      const timer = setTimeout(() => reader.wake?.(), waitMs).unref()
      reader.wake = () => {
        clearTimeout(timer)
        reader.wake = null
        resolve()
      }
    })
  }

  #renew(reader: Reader): void {
    if (reader.lease !== null) clearTimeout(reader.lease)
    reader.lease = setTimeout(() => this.close(reader.id), this.#options.leaseMs).unref()
  }

  /** The numbers of the deltas that are dropped are not used again: they may be on their way. */
  #restart(reader: Reader): void {
    reader.first += reader.queue.length
    this.#fill(reader)
  }

  #fill(reader: Reader): void {
    reader.queue = [...this.#options.snapshot()]
    reader.queueMax = Math.max(this.#options.queueMax, 2 * reader.queue.length)
  }
}

function batchOf({ first, queue }: Reader): NumberedDelta[] {
  const batch: NumberedDelta[] = []
  let weight = 0
  for (const [i, delta] of queue.entries()) {
    weight += weightOf(delta)
    if (batch.length > 0 && weight > batchWeightMax) break
    batch.push({ number: first + i, ...delta })
  }
  return batch
}
