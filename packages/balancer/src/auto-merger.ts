/** Chunks that can be merged are merged, shard by shard. Server: auto_merger_policy.cpp. Manual: core/automerger. */
import { configAddress, RequestFailedError, type ActorContext } from '@shardlab/actor'
import { BsonType, findField } from '@shardlab/bson'
import { configTimeoutMs, type ClusterView } from './cluster-view.js'
import { isActiveBetweenRounds } from './settings.js'
import type { SettingsReader } from './settings-reader.js'

export class AutoMerger {
  readonly #context: ActorContext
  readonly #view: ClusterView
  readonly #settings: SettingsReader
  readonly #stopping: AbortSignal

  constructor(context: ActorContext, view: ClusterView, settings: SettingsReader, stopping: AbortSignal) {
    this.#context = context
    this.#view = view
    this.#settings = settings
    this.#stopping = stopping
  }

  /** Merges everything that can be merged now, unless it is switched off. @throws RequestFailedError without a config server */
  async run(): Promise<void> {
    if (!(await this.#isOn())) return
    const merged = (await this.#view.collections()).filter(
      ({ document, isDefragmenting, isUnsplittable }) => !isDefragmenting && !isUnsplittable && !refuses(document),
    )
    const shards = await this.#view.shards()
    for (const [i, { id }] of shards.entries()) {
      if (i > 0) await this.#context.sleep(this.#settings.pauses.autoMergerMs, this.#stopping)
      if (!(await this.#isOn())) return
      for (const { ns } of merged) await this.#merge(ns, id)
    }
  }

  async #merge(ns: string, shard: string): Promise<void> {
    const options = { timeoutMs: configTimeoutMs, signal: this.#stopping }
    const { chunksMerged } = await this.#context.request(
      configAddress,
      'config.commit-merge-all-chunks',
      { ns, shard, chunksMax: null },
      options,
    )
    if (chunksMerged === 0) return
    this.#context.log('info', 'chunks were merged', { ns, shard, chunks: chunksMerged })
    try {
      await this.#context.request(shard, 'shard.refresh-collection', { ns }, options)
    } catch (error) {
      // It learns of the merge with the next version that it has to compare.
      if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
    }
  }

  async #isOn(): Promise<boolean> {
    const now = await this.#settings.read()
    if (typeof now === 'string' || !isActiveBetweenRounds(now, this.#context.now())) return false
    const { setting } = await this.#context.request(
      configAddress,
      'config.get-setting',
      { id: 'automerge' },
      { timeoutMs: configTimeoutMs },
    )
    const enabled = setting === null ? undefined : findField(setting, 'enabled')
    return enabled?.type !== BsonType.bool || enabled.isTruthy()
  }
}

function refuses(collection: Uint8Array): boolean {
  const value = findField(collection, 'enableAutoMerge')
  return value?.type === BsonType.bool && !value.isTruthy()
}
