import { RequestFailedError, type Address, type RequestFailure } from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import type { Peer } from './peer.js'
import { Wait } from './wait.js'

/** A request of this host that has no answer yet. */
export class PendingRequest extends Wait<unknown> {
  readonly peer: Peer
  readonly to: Address
  readonly toIndex: number
  readonly id: number
  readonly #requests: PendingRequests
  #timeoutMs = 0

  /** Waits in `requests` from now on. */
  constructor(requests: PendingRequests, cell: ActorCell, peer: Peer, to: Address, toIndex: number) {
    super(cell)
    this.#requests = requests
    this.peer = peer
    this.to = to
    this.toIndex = toIndex
    this.id = requests.add(this)
  }

  /** It fails when there is no answer in time. */
  failAfter(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs
    this.endAfter(timeoutMs)
  }

  protected timeIsOver(): void {
    this.#requests.fail(this.id, 'timed-out', `${this.to} did not answer within ${this.#timeoutMs} ms`)
  }

  protected cancelled(): void {
    this.#requests.fail(this.id, 'cancelled', `the request to ${this.to} was cancelled`)
  }
}

/** The lower part of an id is a slot, the upper one tells its users apart. */
const slotCount = 2 ** 17

/** Ids outgrow 32 bits, and a remainder of such numbers is dear. */
function slotOf(id: number): number {
  return id - Math.floor(id / slotCount) * slotCount
}

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
    this.#slots[slotOf(id)] = request
    return id
  }

  /** Takes a request out, its alarm and signal disconnected; undefined when it has been settled. */
  take(id: number): PendingRequest | undefined {
    const slot = slotOf(id)
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
