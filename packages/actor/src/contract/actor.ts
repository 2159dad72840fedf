import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import type { Address } from './address.js'
import type { ActorContext } from './context.js'

/**
 * One member of the cluster. Same state, same messages, same clock: same output; nothing else counts.
 *
 * Handlers are `async` functions that await only what the {@link ActorContext} gives, or other such
 * functions. A handler that has its answer at once may return it without a promise. Errors meant for
 * a client are data in the reply. An exception that leaves a handler is a broken invariant: the
 * runtime reports it and crashes the actor.
 */
export interface Actor {
  /**
   * Called once, before any message, to rebuild the state from the disk. Messages that arrive
   * meanwhile wait.
   */
  start?(): Promise<void> | void

  /**
   * Answers one request. A kind that this role does not serve must throw {@link UnservedMessageError}
   * (the catalogue says who serves what, so that is a broken invariant of ours).
   */
  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K>

  /** A named timer set by {@link ActorContext.setTimer} is due. */
  wake?(timer: string): Promise<void> | void

  /** Orderly shutdown: answers what is in flight, then resolves. Not called on a crash. */
  stop?(): Promise<void> | void

  /** What this member is in the midst of and no copy of it could carry on. Absent: never anything. */
  unfinished?(): readonly UnfinishedWork[]

  /**
   * All that a copy of this member has to know, for its {@link resume}. Called when it works on nothing. The state is shared by any
   * number of copies: nobody changes it. Absent: copies are started.
   */
  exportState?(): unknown

  /**
   * What belongs to the connections of this member's clients, for the copy that takes them over when it is replaced. Called when it works
   * on nothing, and for the last time. Absent: nothing does.
   */
  exportClients?(): unknown

  /**
   * Called in a copy instead of `start`. Its timers are armed by the runtime as they were.
   * @param state what `exportState` of the member has given
   * @param clients what `exportClients` of its predecessor has given, whose clients stay connected; null: there is none
   */
  resume?(state: unknown, clients: unknown): void

  /** Cheap plain data for checkers and reports: counts, versions, stages; no documents. */
  describe?(): Record<string, unknown>
}

/** Why a member cannot be copied now. */
export interface UnfinishedWork {
  /** As the part of a sentence: `shard01 moves a range of shop.orders to shard02`. */
  readonly what: string
  /** It belongs to a command and ends soon, unless something is broken: worth waiting for. */
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
