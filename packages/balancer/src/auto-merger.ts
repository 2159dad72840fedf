/** Chunks that can be merged are merged, shard by shard. Server: auto_merger_policy.cpp. Manual: core/automerger. */
import { configAddress, RequestFailedError, type ActorContext, type CancelSignal } from '@shardlab/actor'
import { BsonType, findField } from '@shardlab/bson'
import { configTimeoutMs, type ClusterView } from './cluster-view.js'
import { isActiveBetweenRounds } from './settings.js'
import type { SettingsReader } from './settings-reader.js'

/** What is still to be merged: these collections on these shards, one shard after the other. */
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

  /** What a pass has still to do; null: none is under way. */
  get pass(): AutoMergerPass | null {
    return this.#pass
  }

  /** Goes on with the pass of another life. */
  resume(pass: AutoMergerPass | null): void {
    this.#pass = pass
  }

  /**
   * Merges what can be merged on the next shard of the pass, the first one of a new pass when none is under way. Nothing is merged, and the
   * pass is over, when it is switched off.
   * @returns ms until the next shard; null: the pass is over. @throws RequestFailedError without a config server: then it is over, too
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
