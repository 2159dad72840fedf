/**
 * One router's world: members reply by script, and time advances only when nothing else can happen.
 */
import { setImmediate as turn } from 'node:timers/promises'
import {
  createRandom,
  PacketWriter,
  RequestFailedError,
  type Actor,
  type ActorContext,
  type Address,
  type CancelSignal,
  type ClusterEvent,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'

export type Handler = (kind: MessageKind, request: never) => unknown

export interface SentMessage {
  readonly to: Address
  readonly kind: MessageKind
  readonly request: never
}

interface Sleeper {
  readonly atMs: number
  readonly order: number
  readonly wake: () => void
}

/** A scripted member throws it to fail during a request. */
export class Gone extends Error {}

export class FakeWorld {
  nowMs = 1_700_000_000_000
  readonly members = new Map<Address, Handler>()
  /** Replica sets and endpoints, with the addresses of members. Other names are addresses. */
  readonly names = new Map<string, readonly Address[]>()
  readonly sent: SentMessage[] = []
  readonly events: ClusterEvent[] = []
  readonly timers = new Map<string, number>()
  readonly reached: string[] = []
  atStep: (step: string) => void = () => {}
  wantsRouted = true
  wantsOperations = false
  #sleepers: Sleeper[] = []
  #order = 0
  #activity = 0

  context(address: Address = 'mongos01'): ActorContext {
    return {
      address,
      endpoint: '127.0.0.1:27017',
      random: createRandom(`test/${address}`),
      secretBytes: (length) => createRandom(`secrets/${address}`).bytes(length),
      disk: undefined as never,
      resolve: (name) => this.names.get(name) ?? [name],
      now: () => this.nowMs,
      steadyNow: () => this.nowMs,
      request: (to, kind, request, options) => this.#request(to, kind, request, options?.timeoutMs),
      send: (to, kind, request) => void this.#request(to, kind, request, undefined).catch(() => {}),
      sleep: (durationMs, signal) => this.#sleep(durationMs, signal),
      nextTurn: () => Promise.resolve(),
      pageFaults: () => 0,
      tls: () => null,
      port: () => null,
      exit: () => {},
      all: (values) => Promise.all(values) as never,
      // A rejection fails the test that caused it.
      detach: (work) => void work,
      setTimer: (name, delayMs) => void this.timers.set(name, this.nowMs + delayMs),
      clearTimer: (name) => void this.timers.delete(name),
      reach: async (step) => {
        this.reached.push(step)
        this.atStep(step)
      },
      attach: (_, pack) => pack(),
      mutated: () => false,
      emit: (event) => void this.events.push(event),
      wants: (type) => (type === 'routed' ? this.wantsRouted : type !== 'operations' || this.wantsOperations),
      log: () => {},
    }
  }

  /** Advances time to the next timer when nothing else can happen. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false
    const watched = promise.finally(() => (settled = true))
    watched.catch(() => {})
    for (;;) {
      await this.drain()
      if (settled) return watched
      if (!this.#wakeNext()) throw new Error('every task waits and no timer is set')
    }
  }

  async drain(): Promise<void> {
    for (let quiet = 0, seen = -1; quiet < 3; quiet++) {
      await turn()
      if (seen !== this.#activity) quiet = -1
      seen = this.#activity
    }
  }

  async fire(actor: Actor, timer: string): Promise<void> {
    this.nowMs = Math.max(this.nowMs, this.timers.get(timer) ?? this.nowMs)
    this.timers.delete(timer)
    await this.settle(Promise.resolve(actor.wake!(timer)))
  }

  #wakeNext(): boolean {
    this.#sleepers.sort((a, b) => a.atMs - b.atMs || a.order - b.order)
    const next = this.#sleepers.shift()
    if (next === undefined) return false
    this.nowMs = Math.max(this.nowMs, next.atMs)
    next.wake()
    return true
  }

  #sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(new RequestFailedError('cancelled', '', 'cancelled'))
      }
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const sleeper = { atMs: this.nowMs + durationMs, order: this.#order++, wake }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', onAbort)
    })
  }

  async #request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    timeoutMs: number | undefined,
  ): Promise<ReplyOf<K>> {
    // Checks that every message can be encoded.
    const packer = new PacketWriter({ checked: true })
    packer.addRequest(1, 0, 1, kind, request)
    this.sent.push({ to, kind, request: request as never })
    const handler = this.members.get(to)
    this.#activity++
    await turn()
    this.#activity++
    if (handler === undefined) throw new RequestFailedError('unreachable', to, `${to} does not answer`, true)
    try {
      const answering = Promise.resolve(handler(kind, request as never)) as Promise<ReplyOf<K>>
      const reply = await (timeoutMs === undefined ? answering : this.#within(to, answering, timeoutMs))
      packer.addReply(1, 1, 0, kind, reply)
      this.#activity++
      return reply
    } catch (error) {
      throw error instanceof Gone ? new RequestFailedError('unreachable', to, `${to} went away`) : error
    }
  }

  async #within<T>(to: Address, answering: Promise<T>, timeoutMs: number): Promise<T> {
    const timer = new AbortController()
    const late = this.#sleep(timeoutMs, timer.signal).then(() => {
      throw new RequestFailedError('timed-out', to, 'timed out')
    })
    late.catch(() => {})
    return Promise.race([answering, late]).finally(() => timer.abort())
  }
}
