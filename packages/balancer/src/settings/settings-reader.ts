import { configAddress, type ActorContext, type CancelSignal } from '@shardlab/actor'
import { configTimeoutMs } from '../cluster-view.js'
import { defaultSettings, parseSettings, type BalancerSettings } from './settings.js'

export interface BalancerPauses {
  /** Null: not set. */
  readonly migrationsMs: number | null
  /** Between merges and splits. */
  readonly defragmentationMs: number
  readonly autoMergerIntervalMs: number
  /** Between two shards of a pass. */
  readonly autoMergerMs: number
}

/** Value of balancerMigrationsThrottlingMs that means: derive the pause from the round interval. */
const defaultMigrationsMs = 1000

export class SettingsReader {
  readonly #context: ActorContext
  readonly #stopping: CancelSignal
  /** Used while the config server does not reply. */
  last: BalancerSettings = defaultSettings
  pauses: BalancerPauses = {
    migrationsMs: null,
    defragmentationMs: 0,
    autoMergerIntervalMs: 3_600_000,
    autoMergerMs: 15_000,
  }

  constructor(context: ActorContext, stopping: CancelSignal) {
    this.#context = context
    this.#stopping = stopping
  }

  /**
   * @returns settings, or one sentence why they are invalid
   * @throws RequestFailedError without a config server
   */
  async read(): Promise<BalancerSettings | string> {
    const options = { timeoutMs: configTimeoutMs, signal: this.#stopping }
    const { settings, pauses } = await this.#context.request(configAddress, 'config.get-balancer-settings', {}, options)
    const [migrationsMs, defragmentationMs, autoMergerIntervalSecs, autoMergerMs] = pauses
    this.pauses = {
      migrationsMs: migrationsMs === defaultMigrationsMs ? null : migrationsMs,
      defragmentationMs,
      autoMergerIntervalMs: autoMergerIntervalSecs * 1000,
      autoMergerMs,
    }
    const parsed = parseSettings(settings)
    if (typeof parsed !== 'string') this.last = parsed
    return parsed
  }
}
