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
  /**
   * Defects that are built into every member, so that checkers can show that they find them.
   * Default: none.
   */
  readonly mutations?: readonly MutationName[]
  /**
   * Whether members share results that each of them could compute, such as tables of chunks. They
   * ask the config server for less then. For clusters of many shards with many chunks. Default
   * false.
   */
  readonly sharesPlacements?: boolean
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
}
