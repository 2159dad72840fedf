import type { Actor, ActorContext, Address, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { Runtime } from '../runtime.js'

/**
 * Time passes only while a call waits: `advance`, `runUntilIdle`, `start`, `restart`, `request` or
 * `stop`. Once an exception has left a handler, each of them rejects with a SimulationFailedError.
 */
export interface SimulatedRuntime extends Runtime {
  readonly kind: 'simulated'
  readonly seed: number | string
  /** A simulation begins on 2026-01-01. */
  now(): number
  advance(durationMs: number): Promise<void>
  /**
   * Runs until no event is left, or that much time has passed (default: an hour).
   * @returns whether no event is left
   */
  runUntilIdle(options?: { readonly maxVirtualMs?: number }): Promise<boolean>
  /**
   * Adds an actor that is not a member, such as a client. It has a machine of its own and never
   * crashes.
   * @throws Error when the address is taken
   */
  addOutsider<A extends Actor>(address: Address, make: (context: ActorContext) => A): A
  /** Breaks the connection of two members: packets under way are lost, unanswered requests fail. */
  sever(one: Address, other: Address): void
  /**
   * Calls a member without the network, and the trace hash does not change. Only for kinds that
   * change nothing and need no other member. Time passes only while the member waits for something,
   * such as its next turn during long work.
   * @throws Error when the member is not running, or goes down before it answers
   */
  peek<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>>
  /**
   * Turns so far: instants at which something happened or a call ended. A measure of the length
   * of a run.
   */
  readonly turns: number
  /**
   * A hash of times, members and bytes so far. Equal seeds and equal calls from outside give equal
   * hashes.
   */
  traceHash(): string
}
