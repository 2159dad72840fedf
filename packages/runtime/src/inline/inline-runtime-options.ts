import type { ActorFactory, LogLevel } from '@shardlab/actor'
import type { GatewayOpener } from '../host/clients/gateway-opener.js'
import type { HostLimits } from '../host/limits.js'
import type { ForeignLinks } from '../processes/foreign-links.js'
import type { RuntimeHooks } from '../runtime.js'
import type { CompleteReply } from './connection-gate.js'

export interface InlineRuntimeOptions extends RuntimeHooks {
  readonly roles: Readonly<Record<string, ActorFactory<never>>>
  /** The root of all generators. */
  readonly seed: number | string
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
  /** How long an actor may take to shut down. Default 10,000. */
  readonly stopTimeoutMs?: number
  /** `manual`: only {@link InlineRuntime.advance} moves the time. Default `real`. */
  readonly clock?: 'real' | 'manual'
  /**
   * With a manual clock: move the time to the next alarm while a client or the API waits for an
   * answer and only alarms are left. Awaitable hellos, which wait for a topology change by design,
   * do not count. Default true.
   */
  readonly autoAdvance?: boolean
  /**
   * How long running work may take to end before a copy fails, on the machine's clock. Default
   * 10,000.
   */
  readonly copyPatienceMs?: number
  /** Completes the reply to a command `shardlab`, which its router has ended: copies need that. */
  readonly completeReply?: CompleteReply
  /** Default: TCP. */
  readonly openGateway?: GatewayOpener
  /** To members in other processes. Default: all members are in this one. */
  readonly links?: ForeignLinks
}
