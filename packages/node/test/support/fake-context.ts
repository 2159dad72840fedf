import {
  createRandom,
  RequestFailedError,
  StepFailedError,
  type ActorContext,
  type Address,
  type ClusterEvent,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { FakeDisk } from './fake-disk.js'

/** The world of one actor in a test: a clock that stands still until it is set, no peers unless given. */
export class FakeContext implements ActorContext {
  readonly address: Address
  readonly endpoint = '127.0.0.1:27018'
  /** As the runtimes do: another one in each life. */
  readonly random
  readonly disk: FakeDisk
  nowMs = 1_700_000_000_000
  readonly timers = new Map<string, number>()
  readonly sleeps: number[] = []
  /** Steps that fail. */
  readonly failing = new Set<string>()
  readonly events: ClusterEvent[] = []

  constructor(address: Address = 'shard01', disk = new FakeDisk()) {
    this.address = address
    this.disk = disk
    this.random = createRandom(`${address} ${disk.lives++}`)
  }

  now(): number {
    return this.nowMs
  }

  async request<K extends MessageKind>(to: Address, _kind: K, _request: RequestOf<K>): Promise<ReplyOf<K>> {
    throw new RequestFailedError('unreachable', to, `nobody is at ${to}`)
  }

  send(): void {}

  /** Sleeps end only when their signal is aborted. */
  holdSleeps = false

  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(durationMs)
    if (this.holdSleeps) {
      await new Promise((resolve) => signal!.addEventListener('abort', resolve))
      throw new RequestFailedError('cancelled', this.address, 'the sleep was cancelled')
    }
    this.nowMs += durationMs
  }

  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return Promise.all(values)
  }

  setTimer(name: string, delayMs: number): void {
    this.timers.set(name, this.nowMs + delayMs)
  }

  clearTimer(name: string): void {
    this.timers.delete(name)
  }

  async reach(step: string): Promise<void> {
    if (this.failing.has(step)) throw new StepFailedError(step)
  }

  emit(event: ClusterEvent): void {
    this.events.push(event)
  }

  wants(): boolean {
    return true
  }

  log(): void {}
}
