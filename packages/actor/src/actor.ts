import type { ActorContext } from './context.js'
import type { Address } from './address.js'
import type { MessageKind, ReplyOf, RequestOf } from './catalogue/index.js'

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

  /** Cheap plain data for checkers and reports: counts, versions, stages; no documents. */
  describe?(): Record<string, unknown>
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
