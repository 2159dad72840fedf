import {
  createRandom,
  RequestFailedError,
  StepFailedError,
  type ActorContext,
  type CancelSignal,
  type Address,
  type ClusterEvent,
  type MessageKind,
  type MutationName,
  type ReplyOf,
  type RequestOf,
} from '../../src/index.js'
import { FakeDisk } from './fake-disk.js'

/** What the others answer; undefined: nobody is there. */
export type Peers = (to: Address, kind: MessageKind, request: unknown) => unknown

export interface FakeContextOptions {
  /** Default: nobody answers. */
  readonly peers?: Peers
  /** Default: an empty one. */
  readonly disk?: FakeDisk
  /** Default: `ADDRESS.local:27018`. */
  readonly endpoint?: string
}

/** The world of one actor in a test: a clock that stands still until it is set or slept on, and peers that the test plays. */
export class FakeContext implements ActorContext {
  readonly address: Address
  readonly endpoint: string
  /** As the runtimes do: another one in each life. */
  readonly random
  readonly disk: FakeDisk
  readonly #peers: Peers
  nowMs = 1_700_000_000_000
  /** When each timer is due. */
  readonly timers = new Map<string, number>()
  /** Durations slept. */
  readonly sleeps: number[] = []
  /** Sleeps end only when their signal is aborted. */
  holdSleeps = false
  /** Steps that fail, and promises at which steps wait. */
  readonly failing = new Set<string>()
  readonly pausing = new Map<string, Promise<void>>()
  /** Steps that were reached, in order. */
  readonly reached: string[] = []
  readonly events: ClusterEvent[] = []
  readonly mutations = new Set<MutationName>()

  constructor(
    address: Address,
    { peers = () => undefined, disk = new FakeDisk(), endpoint = `${address}.local:27018` }: FakeContextOptions = {},
  ) {
    this.address = address
    this.endpoint = endpoint
    this.disk = disk
    this.random = createRandom(`${address} ${disk.lives++}`)
    this.#peers = peers
  }

  now(): number {
    return this.nowMs
  }

  async request<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const answer = await this.#peers(to, kind, request)
    if (answer === undefined) throw new RequestFailedError('unreachable', to, `nobody answers at ${to}`)
    return answer as ReplyOf<K>
  }

  send(): void {}

  async sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    this.sleeps.push(durationMs)
    if (this.holdSleeps) {
      await new Promise<void>((resolve) => signal!.addEventListener('abort', () => resolve()))
      throw new RequestFailedError('cancelled', this.address, 'the sleep was cancelled')
    }
    this.nowMs += durationMs
  }

  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return Promise.all(values)
  }

  detach(work: Promise<unknown>): void {
    // A rejection fails the test that it belongs to.
    void work
  }

  setTimer(name: string, delayMs: number): void {
    this.timers.set(name, this.nowMs + delayMs)
  }

  clearTimer(name: string): void {
    this.timers.delete(name)
  }

  async reach(step: string): Promise<void> {
    this.reached.push(step)
    await this.pausing.get(step)
    if (this.failing.has(step)) throw new StepFailedError(step)
  }

  mutated(mutation: MutationName): boolean {
    return this.mutations.has(mutation)
  }

  emit(event: ClusterEvent): void {
    this.events.push(event)
  }

  wants(): boolean {
    return true
  }

  log(): void {}
}
