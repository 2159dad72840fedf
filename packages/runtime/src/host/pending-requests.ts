import { RequestFailedError, type Address, type CancelSignal, type RequestFailure } from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import type { Alarm, Sleeper } from './clock.js'
import type { Peer } from './peer.js'

/** A request of this host that has no answer yet. */
export class PendingRequest implements Sleeper {
  readonly cell: ActorCell
  readonly peer: Peer
  readonly to: Address
  readonly toIndex: number
  readonly resolve: (reply: never) => void
  readonly reject: (error: RequestFailedError) => void
  readonly id: number
  readonly #requests: PendingRequests
  #timeoutMs = 0
  #alarm: Alarm | null = null
  #signal: CancelSignal | null = null
  #onAbort: (() => void) | null = null

  /** Waits in `requests` from now on. */
  constructor(
    requests: PendingRequests,
    ends: { readonly cell: ActorCell; readonly peer: Peer; readonly to: Address; readonly toIndex: number },
    resolve: (reply: never) => void,
    reject: (error: RequestFailedError) => void,
  ) {
    this.#requests = requests
    this.cell = ends.cell
    this.peer = ends.peer
    this.to = ends.to
    this.toIndex = ends.toIndex
    this.resolve = resolve
    this.reject = reject
    this.id = requests.add(this)
  }

  /** It fails when there is no answer in time. */
  failAfter(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs
    this.#alarm = this.cell.faults.alarm(timeoutMs, this)
  }

  /** It fails when the signal aborts. */
  failWith(signal: CancelSignal): void {
    this.#signal = signal
    this.#onAbort = () => this.#requests.fail(this.id, 'cancelled', `the request to ${this.to} was cancelled`)
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The time is over. */
  wake(): void {
    this.#requests.fail(this.id, 'timed-out', `${this.to} did not answer within ${this.#timeoutMs} ms`)
  }

  /** It no longer waits. */
  disconnect(): void {
    this.#alarm?.cancel()
    if (this.#onAbort !== null) this.#signal!.removeEventListener('abort', this.#onAbort)
  }
}

/** The lower part of an id is a slot, the upper one tells its users apart. */
const slotCount = 2 ** 17

/** No host can have more requests waiting at once. */
export const mostPendingRequests = slotCount

/**
 * Requests by id. Slots are used again but ids never, so an answer that comes too late finds nothing. (A Map whose
 * keys only grow made the collector of garbage the largest cost of a message.)
 */
export class PendingRequests {
  readonly #slots: (PendingRequest | null)[] = []
  readonly #freeIds: number[] = []

  get size(): number {
    return this.#slots.length - this.#freeIds.length
  }

  /** @returns the request's id */
  add(request: PendingRequest): number {
    const id = this.#freeIds.pop() ?? this.#slots.length
    this.#slots[id % slotCount] = request
    return id
  }

  /** Takes a request out, its alarm and signal disconnected; undefined when it has been settled. */
  take(id: number): PendingRequest | undefined {
    const slot = id % slotCount
    const request = this.#slots[slot]
    if (request?.id !== id) return undefined
    this.#slots[slot] = null
    this.#freeIds.push(id + slotCount)
    request.disconnect()
    return request
  }

  fail(id: number, reason: RequestFailure, message: string, undelivered = false): void {
    const request = this.take(id)
    request?.reject(new RequestFailedError(reason, request.to, message, undelivered))
  }

  /** Rejects all that match: their peer or actor is gone, and nobody knows how far it came. */
  failWhere(matches: (request: PendingRequest) => boolean, why: string): void {
    for (const request of this.#slots) {
      if (request !== null && matches(request)) this.fail(request.id, 'unreachable', `${request.to} ${why}`)
    }
  }

  /** Forgets the requests of a crashed actor: its awaits never resume. */
  dropOf(cell: ActorCell): void {
    for (const request of this.#slots) if (request?.cell === cell) this.take(request.id)
  }
}
