import type { ActorFactory, LogLevel, MutationName } from '@shardlab/actor'
import type { HostLimits } from '../host/limits.js'
import type { RuntimeHooks } from '../runtime.js'
import type { LatencyOption } from './latency.js'

export interface SimulatedRuntimeOptions extends RuntimeHooks {
  readonly roles: Readonly<Record<string, ActorFactory<never>>>
  /** The run is a function of the seed and of the calls from outside. */
  readonly seed: number | string
  /** Default: 200 to 1000 microseconds on all links. */
  readonly latency?: LatencyOption
  /** Built in so that checkers can show that they find them. Default: none. */
  readonly mutations?: readonly MutationName[]
  /**
   * Attach large immutable objects to messages instead of packing them, which saves time and memory
   * in clusters of many shards with many chunks. Members act the same; the trace does not depend on
   * the content of attachments. Default false.
   */
  readonly attaches?: boolean
  /**
   * After so many turns each waiting call rejects with a `TurnLimitError`. Default: no limit.
   */
  readonly turnsMax?: number
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
}
