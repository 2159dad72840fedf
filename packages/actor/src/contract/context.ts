import type { AttachableObject, Attachment } from '../codec/attachment.js'
import type { CancelSignal } from '../async/cancellation.js'
import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import type { MutationName } from '../faults/mutations.js'
import type { Random } from '../random/random.js'
import type { Address } from './address.js'
import type { Disk } from './disk.js'
import type { ClusterEvent, LogLevel } from './events.js'

export interface RequestOptions {
  /**
   * Milliseconds on the actor's clock. Default: the request waits until it is answered or the
   * receiver is gone.
   */
  readonly timeoutMs?: number
  /** Aborting rejects the request with `cancelled`; the receiver still completes it. */
  readonly signal?: CancelSignal
}

/** Everything that an actor may use of the world. Handlers await only promises of these methods. */
export interface ActorContext {
  /** This actor's address. */
  readonly address: Address
  /**
   * `host:port` for clients of this actor; in the simulated runtime only a name, with no listener.
   */
  readonly endpoint: string
  /**
   * The seeded generator of this actor. Fork it by purpose, so that a new draw for one purpose does
   * not shift others.
   */
  readonly random: Random
  /**
   * The disk, which survives a crash of this actor. Members other than storage nodes get one that
   * refuses appends.
   */
  readonly disk: Disk

  /** Milliseconds since the epoch on this actor's clock, an integer that never goes back. */
  now(): number

  /**
   * Sends a request and resolves with the answer.
   * @throws {@link RequestFailedError} with the reason `unreachable` (no member answers at that
   *   address, or it went away before it answered), `timed-out` or `cancelled`. Unless it is
   *   `undelivered`, the receiver may have acted on it.
   */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>>

  /**
   * Sends a request without waiting. It is lost when the receiver cannot be reached, and its answer
   * is dropped.
   */
  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void

  /**
   * Resolves after `durationMs`.
   * @throws {@link RequestFailedError} `cancelled` when the signal aborts.
   */
  sleep(durationMs: number, signal?: CancelSignal): Promise<void>

  /** Waits for all, like `Promise.all`: the first rejection rejects. */
  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>

  /**
   * Runs work without a caller that awaits it. A rejection crashes this actor, like an exception
   * that leaves a handler.
   */
  detach(work: Promise<unknown>): void

  /**
   * Arms the named timer, in place of one of that name. `wake(name)` is called once, when it is
   * due.
   */
  setTimer(name: string, delayMs: number): void
  /** Disarms the named timer; no error when it is not armed. */
  clearTimer(name: string): void

  /**
   * Passes a named step, `role.protocol.step`: a place where a real cluster can be interrupted. A
   * fault can hold, fail or crash the actor here. Without a fault it returns a resolved promise.
   * @throws {@link StepFailedError} when a fault makes this step fail
   */
  reach(step: string, detail?: Readonly<Record<string, unknown>>): Promise<void>

  /**
   * A large immutable part for a message: attached as an object where the runtime allows it, which
   * only a simulated one does, else packed. Calls one of the two functions, or both when there is
   * no object. Receivers must get the same information from either form.
   * @param object must be deeply immutable; null: this message has no object
   */
  attach<Packed>(object: () => AttachableObject | null, pack: () => Packed): Attachment | Packed

  /**
   * Whether this defect is built in, which only a simulated runtime supports. Each name is used at
   * exactly one place.
   */
  mutated(mutation: MutationName): boolean

  /** Emits a structured event to the listeners of the cluster. */
  emit(event: ClusterEvent): void
  /** Whether events of this type are delivered. Ask before building an expensive one. */
  wants(type: ClusterEvent['type']): boolean
  /** Writes one line to the log. `fields` are plain data. */
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}
