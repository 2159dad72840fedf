import {
  isOfSetProtocol,
  RequestFailedError,
  type Address,
  type MessageKind,
  type RequestFailure,
} from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import { Wait } from '../time/wait.js'
import type { Peer } from './peer.js'

export class PendingRequest extends Wait<unknown> {
  readonly peer: Peer
  readonly to: Address
  readonly toIndex: number
  readonly kind: MessageKind
  readonly id: number
  readonly #requests: PendingRequests
  #timeoutMs = 0

  /** Adds itself to `requests`. */
  constructor(
    requests: PendingRequests,
    cell: ActorCell,
    { peer, to, toIndex, kind }: Pick<PendingRequest, 'peer' | 'to' | 'toIndex' | 'kind'>,
  ) {
    super(cell)
    this.#requests = requests
    this.peer = peer
    this.to = to
    this.toIndex = toIndex
    this.kind = kind
    this.id = requests.add(this)
  }

  failAfter(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs
    this.endAfter(timeoutMs)
  }

  protected onTimeout(): void {
    this.#requests.fail(this.id, 'timed-out', `${this.to} did not answer within ${this.#timeoutMs} ms`)
  }

  protected onCancel(): void {
    this.#requests.fail(this.id, 'cancelled', `the request to ${this.to} was cancelled`)
  }
}

/** An id is a slot (its lower 17 bits) and a count of the uses of that slot. */
const slotCount = 2 ** 17

/** Without `%`, which is slow for numbers above 32 bits, as ids become. */
function slotOf(id: number): number {
  return id - Math.floor(id / slotCount) * slotCount
}

export const mostPendingRequests = slotCount

/**
 * Slots are reused but ids are not, so a late answer finds nothing. An array of slots, because a
 * Map whose keys only grow made garbage collection the largest cost of a message.
 */
export class PendingRequests {
  readonly #slots: (PendingRequest | null)[] = []
  readonly #freeIds: number[] = []

  get size(): number {
    return this.#slots.length - this.#freeIds.length
  }

  /** Without those of the protocol of replica sets, which never rests. */
  get hasWork(): boolean {
    return this.#slots.some((request) => request !== null && !isOfSetProtocol(request.kind))
  }

  add(request: PendingRequest): number {
    const id = this.#freeIds.pop() ?? this.#slots.length
    this.#slots[slotOf(id)] = request
    return id
  }

  /** Disconnects the request's alarm and signal. undefined: it has been settled. */
  take(id: number): PendingRequest | undefined {
    const slot = slotOf(id)
    const request = this.#slots[slot]
    if (request?.id !== id) return undefined
    this.#slots[slot] = null
    this.#freeIds.push(id + slotCount)
    request.disconnect()
    return request
  }

  fail(
    id: number,
    reason: RequestFailure,
    message: string,
    undelivered = false,
    primaryHint: Address | null = null,
  ): void {
    const request = this.take(id)
    request?.reject(new RequestFailedError(reason, request.to, message, undelivered, primaryHint))
  }

  /** Whether the receivers acted on the requests is unknown. */
  failWhere(matches: (request: PendingRequest) => boolean, why: string): void {
    for (const request of this.#slots) {
      if (request !== null && matches(request)) this.fail(request.id, 'unreachable', `${request.to} ${why}`)
    }
  }

  dropAllOf(cell: ActorCell): void {
    for (const request of this.#slots) if (request?.cell === cell) this.take(request.id)
  }
}
