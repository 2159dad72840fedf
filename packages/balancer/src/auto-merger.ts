/** Chunks that can be merged are merged, shard by shard. Server: auto_merger_policy.cpp. Manual: core/automerger. */
import { configAddress, RequestFailedError, type ActorContext } from '@shardlab/actor'
import { BsonType, findField } from '@shardlab/bson'
import { configTimeoutMs, type ClusterView } from './cluster-view.js'
import { isActiveBetweenRounds, type BalancerSettings } from './settings.js'

/** autoMergerIntervalSecs */
const intervalMs = 3_600_000
/** autoMergerThrottlingMS: between two shards. */
const throttleMs = 15_000

export class AutoMerger {
  readonly intervalMs = intervalMs
  readonly #context: ActorContext
  readonly #view: ClusterView
  readonly #stopping: AbortSignal

  constructor(context: ActorContext, view: ClusterView, stopping: AbortSignal) {
    this.#context = context
    this.#view = view
    this.#stopping = stopping
  }

  /** Merges everything that can be merged now, unless it is switched off; `settings` reads them anew. @throws RequestFailedError without a config server */
  async run(settings: () => Promise<BalancerSettings | string>): Promise<void> {
    if (!(await this.#isOn(settings))) return
    const merged = (await this.#view.collections()).filter(({ document, isDefragmenting }) => !isDefragmenting && !refuses(document))
    const shards = await this.#view.shards()
    for (const [i, { id }] of shards.entries()) {
      if (i > 0) await this.#context.sleep(throttleMs, this.#stopping)
      if (!(await this.#isOn(settings))) return
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

  async #isOn(settings: () => Promise<BalancerSettings | string>): Promise<boolean> {
    const now = await settings()
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
