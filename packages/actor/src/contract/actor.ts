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
   * Called once, before any message, to rebuild the state from the disk. Messages that arrive
   * before it has resolved wait.
   */
  start?(): Promise<void> | void

  /**
   * Answers one request.
   * @throws {@link UnservedMessageError} for a kind that this role does not serve: the catalogue
   *   says which roles serve it, so that is a broken invariant
   */
  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K>

  /** A named timer set by {@link ActorContext.setTimer} is due. */
  wake?(timer: string): Promise<void> | void

  /** Orderly shutdown: answers the running requests, then resolves. Not called on a crash. */
  stop?(): Promise<void> | void

  /** Running work that a copy of this member could not continue. Absent: there never is any. */
  unfinished?(): readonly UnfinishedWork[]

  /**
   * The state that a copy of this member needs, for its {@link resume}. Called when the member
   * works on nothing. Several copies may share the result, so it must never be changed. Absent:
   * copies are started from their disks.
   */
  exportState?(): unknown

  /**
   * The state of the connections of this member's clients, for the copy that replaces it and keeps
   * them. Called when the member works on nothing; no other method is called after it. Absent:
   * connections have no state.
   */
  exportClients?(): unknown

  /**
   * Called in a copy instead of {@link start}. The runtime arms its timers.
   * @param state the result of `exportState`
   * @param clients the result of `exportClients` of the member that this copy replaces; null: it
   *   replaces none
   */
  resume?(state: unknown, clients: unknown): void

  /** Cheap plain data for checkers and reports: counts, versions, stages; no documents. */
  describe?(): Record<string, unknown>
}

/** Why a member cannot be copied now. */
export interface UnfinishedWork {
  /** A clause: `shard01 moves a range of shop.orders to shard02`. */
  readonly what: string
  /**
   * It is part of a command and ends soon unless a fault blocks it, so the caller may wait for it.
   */
  readonly isBrief: boolean
}

/** Makes one actor. `options` is plain JSON-like data that can cross to a worker. */
export type ActorFactory<Options = unknown> = (context: ActorContext, options: Options) => Actor

/** Thrown by an actor that receives a message kind it does not serve. */
export class UnservedMessageError extends Error {
  constructor(address: Address, kind: string) {
    super(`${address} does not serve ${kind}`)
    this.name = 'UnservedMessageError'
  }
}
