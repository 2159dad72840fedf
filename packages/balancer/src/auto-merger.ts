/** Server: auto_merger_policy.cpp. Manual: core/automerger. */
import { configAddress, RequestFailedError, type ActorContext, type CancelSignal } from '@shardlab/actor'
import { BsonType, findField } from '@shardlab/bson'
import { configTimeoutMs, type ClusterView } from './cluster-view.js'
import { isActiveBetweenRounds } from './settings/settings.js'
import type { SettingsReader } from './settings/settings-reader.js'

/** The rest of a pass: all these collections on one shard after another. */
export interface AutoMergerPass {
  readonly namespaces: readonly string[]
  readonly shards: readonly string[]
}

export class AutoMerger {
  readonly #context: ActorContext
  readonly #view: ClusterView
  readonly #settings: SettingsReader
  readonly #stopping: CancelSignal
  #pass: AutoMergerPass | null = null

  constructor(context: ActorContext, view: ClusterView, settings: SettingsReader, stopping: CancelSignal) {
    this.#context = context
    this.#view = view
    this.#settings = settings
    this.#stopping = stopping
  }

  get pass(): AutoMergerPass | null {
    return this.#pass
  }

  resume(pass: AutoMergerPass | null): void {
    this.#pass = pass
  }

  /**
   * Merges on the next shard of the pass, or on the first shard of a new pass. Ends the pass if the
   * auto-merger is off.
   * @returns ms until the next shard; null: the pass has ended
   * @throws RequestFailedError without a config server; the pass has ended then
   */
  async step(): Promise<number | null> {
    const before = this.#pass
    this.#pass = null
    if (!(await this.#isOn())) return null
    const { namespaces, shards } = before ?? (await this.#begin())
    const [shard, ...others] = shards
    if (shard === undefined) return null
    for (const ns of namespaces) await this.#merge(ns, shard)
    if (others.length === 0) return null
    this.#pass = { namespaces, shards: others }
    return this.#settings.pauses.autoMergerMs
  }

  async #begin(): Promise<AutoMergerPass> {
    const merged = (await this.#view.collections()).filter(
      ({ document, isDefragmenting, isUnsplittable }) => !isDefragmenting && !isUnsplittable && !refuses(document),
    )
    const shards = await this.#view.shards()
    return { namespaces: merged.map(({ ns }) => ns), shards: shards.map(({ id }) => id) }
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
      // The shard learns of the merge at the next version check.
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
