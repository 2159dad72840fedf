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
   * Fails at once when the receiver is down, because a later process of it could not answer.
   * Default false: storage nodes search for it (`SetContext`).
   */
  readonly pinned?: boolean
  /** On the actor's clock. Default: until the request is answered or the receiver is gone. */
  readonly timeoutMs?: number
  /** Aborting rejects with `cancelled`; the receiver still completes the request. */
  readonly signal?: CancelSignal
}

/** What a step concerns, such as `{ ns, to }`; observers of a simulation see it. */
export type StepDetail = Readonly<Record<string, unknown>>

/** TLS of the port on which clients reach a member. */
export interface TlsState {
  /** The name in the certificate, as RFC 2253. */
  readonly subject: string
  readonly expiresAtMs: number
  readonly hasCertificateAuthority: boolean
  /** Handshakes since the start, by the version of TLS, such as `1.3`, or `unknown`. */
  readonly connections: ReadonlyMap<string, number>
  /** Reads the files again, for later connections. @throws Error: the earlier ones stay in use */
  rotate(): void
}

/** Of a client, certified by an authority of the member. */
export interface ClientCertificate {
  /** Its name, as RFC 2253. */
  readonly subject: string
  /** It has the organizations, units and domains of the member's certificate. */
  readonly isOfMember: boolean
}

/** The port on which clients reach a member. */
export interface PortState {
  readonly connectionsMax: number
  /** Refused because of this limit since the port was opened. */
  readonly rejectedConnections: number
  /** Null: the client has none that is valid, or has gone. */
  certificateOf(connectionId: number): ClientCertificate | null
  /** Breaks all connections. Their clients get no further answer, and can connect again. */
  closeConnections(): void
}

/** The whole world of an actor. Handlers await only promises of these methods. */
export interface ActorContext {
  readonly address: Address
  /** `host:port` for clients; in the simulated runtime only a name, with no listener. */
  readonly endpoint: string
  /** Seeded. Fork it by purpose, so that a new draw for one purpose does not shift others. */
  readonly random: Random
  /**
   * Bytes that clients cannot guess, for nonces and salts. In a simulation they are seeded, because
   * a run is a function of its seed.
   */
  secretBytes(length: number): Uint8Array
  /**
   * Survives a crash of this actor. Members other than storage nodes get one that refuses appends.
   */
  readonly disk: Disk

  /** Milliseconds since the epoch, an integer that never goes back. */
  now(): number

  /**
   * The same without faults of this member's clock. For durations only: after a fault `now()` may
   * stand still for as long as the clock was ahead.
   */
  steadyNow(): number

  /** Null: clients connect without TLS. */
  tls(): TlsState | null

  /** Null: the member has no port, as in a simulation. */
  port(): PortState | null

  /** Of the process, which read from a disk; 0 in a simulation. */
  pageFaults(): number

  /**
   * The name service of the cluster. Of an address, an endpoint or a further name of a member: that
   * member's address. Of a replica set: all its members, in the order in which they joined. Of an
   * unknown name: empty. A member that is down keeps its names.
   */
  resolve(name: Address): readonly Address[]

  /**
   * @param to an address, an endpoint or a further name of a member
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

  /** A request that is lost when the receiver cannot be reached. Its answer is dropped. */
  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void

  /** @throws {@link RequestFailedError} `cancelled` when the signal aborts */
  sleep(durationMs: number, signal?: CancelSignal): Promise<void>

  /** Ends this incarnation as a crash does: nothing that it awaits resolves, and its disk stays. */
  exit(): void

  /**
   * Gives up the turn: resolves in a later one, after messages and clients that wait have been
   * served. For work that computes longer than a few milliseconds.
   */
  nextTurn(): Promise<void>

  /** Like `Promise.all`: the first rejection rejects. */
  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>

  /**
   * Runs work that no caller awaits. A rejection crashes this actor, like an exception that leaves
   * a handler.
   */
  detach(work: Promise<unknown>): void

  /** Replaces a timer of that name. `wake(name)` is called once, when it is due. */
  setTimer(name: string, delayMs: number): void
  /** No error when the timer is not armed. */
  clearTimer(name: string): void

  /**
   * Passes a named step, `role.protocol.step`, at which a fault can hold, fail or crash the actor.
   * Without a fault it returns a resolved promise.
   * @throws {@link StepFailedError} when a fault makes this step fail
   */
  reach(step: string, detail?: StepDetail): Promise<void>

  /**
   * A large immutable part of a message: attached as an object in a simulated runtime, else packed.
   * Calls one of the two functions, or both when there is no object. Receivers must get the same
   * information from either form.
   * @param object must be deeply immutable; null: this message has no object
   */
  attach<Packed>(object: () => AttachableObject | null, pack: () => Packed): Attachment | Packed

  /**
   * Whether this defect is built in; only in a simulated runtime. Each name is used at one place.
   */
  mutated(mutation: MutationName): boolean

  emit(event: ClusterEvent): void
  /** Whether events of this type are delivered. Check before building an expensive one. */
  wants(type: ClusterEvent['type']): boolean
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}
