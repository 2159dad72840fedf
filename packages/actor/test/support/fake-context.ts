import {
  Attachment,
  createRandom,
  RequestFailedError,
  StepFailedError,
  type ActorContext,
  type CancelSignal,
  type Address,
  type AttachableObject,
  type ClusterEvent,
  type MessageKind,
  type MutationName,
  type ReplyOf,
  type RequestOf,
  type PortState,
  type TlsState,
} from '../../src/index.js'
import { FakeDisk } from './fake-disk.js'

/** undefined: the member is unreachable. */
export type Peers = (to: Address, kind: MessageKind, request: unknown) => unknown

export interface FakeContextOptions {
  readonly peers?: Peers
  readonly disk?: FakeDisk
  readonly endpoint?: string
  /** Replica sets with several members. Any other name is an address. */
  readonly sets?: Readonly<Record<string, readonly Address[]>>
}

/** The clock moves by `nowMs` and `sleep` only, and the test answers the requests. */
export class FakeContext implements ActorContext {
  readonly address: Address
  readonly endpoint: string
  /** Another generator for each incarnation, as in the runtimes. */
  readonly random
  readonly disk: FakeDisk
  readonly #peers: Peers
  readonly #sets: Readonly<Record<string, readonly Address[]>>
  nowMs = 1_700_000_000_000
  readonly timers = new Map<string, number>()
  readonly sleeps: number[] = []
  /** {@link attach} attaches objects instead of packing them. */
  attaches = false
  /** While true, sleeps end only when their signal aborts. */
  holdSleeps = false
  /** {@link exit} was called. */
  crashed = false
  /** Calls of {@link nextTurn}. */
  turns = 0
  /** Runs in each of these turns: what other clients do. */
  betweenTurns: (() => Promise<void>) | null = null
  readonly failing = new Set<string>()
  readonly pausing = new Map<string, Promise<void>>()
  readonly reached: string[] = []
  readonly events: ClusterEvent[] = []
  /** Notices. */
  readonly sent: [to: Address, kind: MessageKind][] = []
  readonly mutations = new Set<MutationName>()

  constructor(
    address: Address,
    {
      peers = () => undefined,
      disk = new FakeDisk(),
      endpoint = `${address}.local:27018`,
      sets = {},
    }: FakeContextOptions = {},
  ) {
    this.address = address
    this.endpoint = endpoint
    this.disk = disk
    this.random = createRandom(`${address} ${disk.lives++}`)
    this.#peers = peers
    this.#sets = sets
  }

  tlsState: TlsState | null = null

  portState: PortState | null = null

  port(): PortState | null {
    return this.portState
  }

  tls(): TlsState | null {
    return this.tlsState
  }

  secretBytes(length: number): Uint8Array {
    return this.random.bytes(length)
  }

  resolve(name: Address): readonly Address[] {
    return this.#sets[name] ?? [name]
  }

  now(): number {
    return this.nowMs
  }

  steadyNow(): number {
    return this.nowMs
  }

  async request<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const answer = await this.#peers(to, kind, request)
    if (answer === undefined) throw new RequestFailedError('unreachable', to, `nothing answers at ${to}`, true)
    return answer as ReplyOf<K>
  }

  send<K extends MessageKind>(to: Address, kind: K): void {
    this.sent.push([to, kind])
  }

  async sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    this.sleeps.push(durationMs)
    if (this.holdSleeps) {
      await new Promise<void>((resolve) => signal!.addEventListener('abort', () => resolve()))
      throw new RequestFailedError('cancelled', this.address, 'the sleep was cancelled')
    }
    this.nowMs += durationMs
  }

  exit(): void {
    this.crashed = true
  }

  pageFaults(): number {
    return 0
  }

  async nextTurn(): Promise<void> {
    this.turns++
    await this.betweenTurns?.()
  }

  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return Promise.all(values)
  }

  attach<Packed>(object: () => AttachableObject | null, pack: () => Packed): Attachment | Packed {
    const attached = this.attaches ? object() : null
    return attached === null ? pack() : new Attachment(attached)
  }

  detach(work: Promise<unknown>): void {
    // An unhandled rejection fails the test.
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
