import type { LogLevel } from '@shardlab/actor'
import type { HostLimits } from '../host/limits.js'
import type { RuntimeHooks } from '../runtime.js'
import type { HostsOption } from './layout.js'

export interface ThreadsRuntimeOptions extends RuntimeHooks {
  /** A module that calls `runWorkerHost`. */
  readonly workerEntry: URL
  readonly hosts?: HostsOption
  /** The root of all generators. */
  readonly seed: number | string
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
  /** How long the actors may take to shut down. Default 10,000. */
  readonly stopTimeoutMs?: number
}
