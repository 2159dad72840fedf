/** The settings and parameters of the balancer, read anew whenever something is decided. */
import { configAddress, type ActorContext, type CancelSignal } from '@shardlab/actor'
import { configTimeoutMs } from './cluster-view.js'
import { defaultSettings, parseSettings, type BalancerSettings } from './settings.js'

/** What the config server's parameters say of pauses. */
export interface BalancerPauses {
  /** Between migrations; null: nobody has said so. */
  readonly migrationsMs: number | null
  /** Between merges and splits of a defragmentation. */
  readonly defragmentationMs: number
  readonly autoMergerIntervalMs: number
  /** Between two shards whose chunks are merged automatically. */
  readonly autoMergerMs: number
}

/** Of balancerMigrationsThrottlingMs: then the pause follows the interval of rounds. */
const defaultMigrationsMs = 1000

export class SettingsReader {
  readonly #context: ActorContext
  readonly #stopping: CancelSignal
  /** What they said last: the answer while the config server is away. */
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

  /** @returns a sentence for settings that make no sense. @throws RequestFailedError without a config server */
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
