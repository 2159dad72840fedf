import { configAddress, RequestFailedError, type ActorContext } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

/** serverStatus does not wait longer for the config server. */
const patienceMs = 1000

/** The chunk size of the cluster as last read. Server: balancer_configuration.cpp. */
export class ClusterChunkSize {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  #bytes: number

  constructor(context: ActorContext, behaviours: Behaviours) {
    this.#context = context
    this.#behaviours = behaviours
    this.#bytes = behaviours.defaultChunkSizeBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Keeps the last value if the config server does not answer. */
  async refresh(): Promise<void> {
    try {
      const { setting } = await this.#context.request(
        configAddress,
        'config.get-setting',
        { id: 'chunksize' },
        { timeoutMs: patienceMs, pinned: true },
      )
      this.#bytes = chunkSizeBytes(this.#behaviours, setting)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    }
  }
}

/** @param setting a config.settings document; null: the version's default applies */
export function chunkSizeBytes({ defaultChunkSizeBytes }: Behaviours, setting: Uint8Array | null): number {
  const megabytes = setting === null ? undefined : findField(setting, 'value')
  return megabytes?.isNumber() === true ? megabytes.asNumber() * 1024 * 1024 : defaultChunkSizeBytes
}
