import type { Actor, ActorContext, Address, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { Runtime } from '../runtime.js'

/**
 * Time passes only while somebody waits: in `advance`, `runUntilIdle`, or until `start`, `restart`, `request` or `stop`
 * have resolved. Once an exception has left a handler, each of them rejects with a SimulationFailedError.
 */
export interface SimulatedRuntime extends Runtime {
  readonly kind: 'simulated'
  readonly seed: number | string
  /** What all members keep once: see `ActorContext.shared`. */
  readonly sharing: { readonly shared?: Map<string, unknown> }
  /** Milliseconds since the epoch; a simulation begins on 2026-01-01. */
  now(): number
  /** Lets that much time pass, with everything that happens in it. */
  advance(durationMs: number): Promise<void>
  /** Runs until nothing is left to happen, or that much time has passed (default: an hour). @returns whether nothing is left. */
  runUntilIdle(options?: { readonly maxVirtualMs?: number }): Promise<boolean>
  /**
   * Puts an actor on the network that is no member, such as a client. It has a machine of its own, for good, and cannot crash.
   * @throws Error when the address is taken
   */
  addOutsider<A extends Actor>(address: Address, make: (context: ActorContext) => A): A
  /** Breaks the connection between two members, as a network does: what is on its way is lost, requests without an answer fail. */
  sever(one: Address, other: Address): void
  /**
   * Asks a member past the network: nothing is sent, no time passes, and the trace does not know of it. Only for kinds that change nothing and
   * are answered without asking others.
   * @throws Error when the member is not running
   */
  peek<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>>
  /** Stands for all that happened so far: times, members, bytes. Equal seeds and equal requests from outside give equal hashes. */
  traceHash(): string
}
