import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import type { Address } from './address.js'
import type { ActorContext } from './context.js'

/**
 * One member of the cluster. Its output is a function of its state, its messages and its clock (law
 * 2).
 *
 * Handlers are `async` functions that await only promises of the {@link ActorContext}, or other
 * such functions (law 3). A handler that has its answer at once may return it without a promise.
 * Errors meant for a client are data in the reply. An exception that leaves a handler is a broken
 * invariant: the runtime reports it and crashes the actor.
 */
export interface Actor {
  /**
   * Called once, to rebuild the state from the disk. Earlier messages wait until it has resolved.
   */
  start?(): Promise<void> | void

  /**
   * Answers one request.
   * @throws {@link UnservedMessageError} for a kind that this role does not serve: a broken
   *   invariant, because the catalogue says which roles serve it
   * @throws {@link NotPrimaryError} when only the primary of a replica set serves the request: the
   *   one exception that does not crash the actor
   */
  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K>

  /** A timer of {@link ActorContext.setTimer} is due. */
  wake?(timer: string): Promise<void> | void

  /** Orderly shutdown: answers the running requests, then resolves. Not called on a crash. */
  stop?(): Promise<void> | void

  /** Running work that a copy of this member could not continue. Absent: there is never any. */
  unfinished?(): readonly UnfinishedWork[]

  /**
   * Sleeps of work that never ends, and for which copies do not wait: the protocol of a replica
   * set. Absent: those of awaitable hellos.
   */
  endlessSleeps?(): number

  /**
   * The state for {@link resume} in a copy. Called when the member works on nothing. Several copies
   * may share the result, so it must never be changed. Absent: copies start from their disks.
   */
  exportState?(): unknown

  /**
   * The state of the client connections, for the copy that replaces this member and keeps them.
   * Called when the member works on nothing, and last of all methods. Absent: connections have no
   * state.
   */
  exportClients?(): unknown

  /**
   * Called in a copy instead of {@link start}. The runtime arms its timers.
   * @param state the result of `exportState`
   * @param clients the result of `exportClients` of the replaced member; null: it replaces none
   */
  resume?(state: unknown, clients: unknown): void

  /** Cheap plain data for checkers and reports: counts, versions, stages; no documents. */
  describe?(): Record<string, unknown>
}

export interface UnfinishedWork {
  /** A clause: `shard01 moves a range of shop.orders to shard02`. */
  readonly what: string
  /** Ends soon unless a fault blocks it, so the caller may wait for it. */
  readonly isBrief: boolean
}

/** `options`: plain JSON-like data that can cross to a worker. */
export type ActorFactory<Options = unknown> = (context: ActorContext, options: Options) => Actor

export class UnservedMessageError extends Error {
  constructor(address: Address, kind: string) {
    super(`${address} does not serve ${kind}`)
    this.name = 'UnservedMessageError'
  }
}
