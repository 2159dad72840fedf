import type { ActorFactory, LogLevel } from '@shardlab/actor'
import type { HostLimits } from '../host/limits.js'
import type { RuntimeHooks } from '../runtime.js'
import type { LatencyOption } from './latency.js'

export interface SimulatedRuntimeOptions extends RuntimeHooks {
  readonly roles: Readonly<Record<string, ActorFactory<never>>>
  /** Everything that happens is a function of it, and of what is asked from outside. */
  readonly seed: number | string
  /** Default: 200 to 1000 microseconds everywhere. */
  readonly latency?: LatencyOption
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
}
