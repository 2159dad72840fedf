import {
  createRandom,
  RequestFailedError,
  type ActorContext,
  type Address,
  type ClusterEvent,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { FakeDisk } from './fake-disk.js'

export type Peers = (to: Address, kind: MessageKind, request: unknown) => unknown

/** The world of one actor in a test: a clock that stands still, and peers that the test plays. */
export class FakeContext implements ActorContext {
  readonly address: Address
  readonly endpoint: string
  /** As the runtimes do: another one in each life. */
  readonly random
  readonly disk: FakeDisk
  readonly #peers: Peers
  nowMs = 1_700_000_000_000

  readonly events: ClusterEvent[] = []

  constructor(address: Address, peers: Peers, disk = new FakeDisk()) {
    this.disk = disk
    this.address = address
    this.random = createRandom(`${address} ${this.disk.lives++}`)
    this.endpoint = `${address}.local:27018`
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

  async sleep(): Promise<void> {}

  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return Promise.all(values)
  }

  setTimer(): void {}

  clearTimer(): void {}

  async reach(): Promise<void> {}

  emit(event: ClusterEvent): void {
    this.events.push(event)
  }

  wants(): boolean {
    return true
  }

  log(): void {}
}
