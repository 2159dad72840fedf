import type { CancelSignal } from '../async/cancellation.js'
import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import type { MutationName } from '../faults/mutations.js'
import type { Random } from '../random/random.js'
import type { Address } from './address.js'
import type { Disk } from './disk.js'
import type { ClusterEvent, LogLevel } from './events.js'

/** How long and under which signal a request may wait. */
export interface RequestOptions {
  /** Milliseconds of the actor's clock. Without it the request waits until it is answered or the peer is gone. */
  readonly timeoutMs?: number
  /** Aborting rejects the request with `cancelled`; the peer still finishes what it began. */
  readonly signal?: CancelSignal
}

/** The promise that {@link ActorContext.reach} returns when no fault is armed: one for all calls, so that passing a step allocates nothing. */
export const passedStep: Promise<void> = Promise.resolve()

/** Everything an actor may use of the world. Its methods are the only things a handler awaits. */
export interface ActorContext {
  /** This actor's address. */
  readonly address: Address
  /** `host:port` on which clients reach this actor; in the simulated runtime a name that nothing listens on. */
  readonly endpoint: string
  /** Seeded generator of this actor alone. Fork it by purpose: a new draw here must not move draws there. */
  readonly random: Random
  /** What survives a crash of this actor. Only storage nodes have one: others get a disk that refuses appends. */
  readonly disk: Disk

  /** Milliseconds since the epoch on this actor's clock, an integer that never goes back. */
  now(): number

  /**
   * Sends a request and resolves with the answer.
   * @throws {@link RequestFailedError} reason `unreachable` (nothing answers at that address, or it went away
   *   before it answered), `timed-out` or `cancelled`. Whether the peer acted is unknown in all three.
   */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>>

  /** Sends without waiting. Lost when the peer cannot be reached; its answer is dropped. */
  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void

  /** Resolves after `durationMs`. @throws {@link RequestFailedError} `cancelled` when the signal aborts. */
  sleep(durationMs: number, signal?: CancelSignal): Promise<void>

  /** Waits for all, like `Promise.all`: the first rejection rejects. */
  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>

  /** Work that nobody waits for. What it rejects with crashes this actor alone, as an exception that leaves a handler does. */
  detach(work: Promise<unknown>): void

  /** Arms the named timer; an armed one is replaced. `wake(name)` is called once, when it is due. */
  setTimer(name: string, delayMs: number): void
  /** Disarms the named timer; no error when it is not armed. */
  clearTimer(name: string): void

  /**
   * A named place where a real cluster can be interrupted, `role.protocol.step`. Pausing, failing and
   * crashing here are faults. Without a fault it resolves at once.
   * @throws {@link StepFailedError} when a fault makes this step fail.
   */
  reach(step: string, detail?: Readonly<Record<string, unknown>>): Promise<void>

  /**
   * What members of a process keep once for all, by the name of whoever keeps it: values that each of them could have computed. Absent: each
   * has its own. Only a simulated runtime can have it.
   */
  readonly shared?: Map<string, unknown>

  /** Is this defect built in? Only a simulated runtime can say yes; each name is asked for at exactly one place. */
  mutated(mutation: MutationName): boolean

  /** Emits a structured event to whoever watches the cluster. */
  emit(event: ClusterEvent): void
  /** Whether anybody watches events of this type: ask before building an expensive one. */
  wants(type: ClusterEvent['type']): boolean
  /** One line in the log. `fields` are plain data. */
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}
