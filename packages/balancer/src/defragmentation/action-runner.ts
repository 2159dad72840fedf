/** Server: balancer_commands_scheduler_impl.cpp. */
import { configAddress, RequestFailedError, type ErrorField } from '@shardlab/actor'
import { findField, isRetriableErrorCode } from '@shardlab/bson'
import { configTimeoutMs, type CollectionView } from '../cluster-view.js'
import type { Defragmentation, DefragmentationParts } from './defragmentation.js'
import { smallChunkBytes } from './move-and-merge.js'
import type { Action, Outcome } from './phase.js'
import { Throttle } from './throttle.js'

const actionTimeoutMs = 60_000

const done: Outcome = { status: 'done', points: [] }
const retry: Outcome = { status: 'retry', points: [] }
const failed: Outcome = { status: 'failed', points: [] }

export class ActionRunner {
  readonly #parts: DefragmentationParts
  readonly #throttle: Throttle

  constructor(parts: DefragmentationParts) {
    this.#parts = parts
    this.#throttle = new Throttle(parts.context)
  }

  /** @throws RequestFailedError when the member shuts down; StepFailedError */
  async run(defragmentation: Defragmentation, action: Action): Promise<Outcome> {
    const { context } = this.#parts
    await context.reach('balancer.defragmentation.action', { ns: defragmentation.ns, kind: action.kind })
    try {
      const collection = await this.#parts.view.collection(defragmentation.ns)
      return collection === null ? failed : await this.#run(defragmentation, collection, action)
    } catch (error) {
      if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
      return retry
    }
  }

  async #run({ ns, uuid }: Defragmentation, collection: CollectionView, action: Action): Promise<Outcome> {
    const { context, operations, settings, stopping } = this.#parts
    const { shard, range, kind } = action
    const { minDocument: min, maxDocument: max } = range
    const options = { timeoutMs: actionTimeoutMs, signal: stopping }
    const [epoch, seconds, increment] = collection.chunks.version
    const keyPattern = collection.chunks.shardKey.document
    if (kind === 'merge' || kind === 'split') await this.#throttle.turn(settings.pauses.defragmentationMs, stopping)
    switch (kind) {
      case 'merge': {
        const request = { ns, generation: [epoch, seconds, increment] as const, min, max }
        return outcomeOf((await context.request(shard, 'shard.merge-chunks', request, options)).error)
      }
      case 'measure': {
        const isEstimate = this.#parts.behaviours.defragmentationEstimatesSizes
        const sizeMaxBytes = isEstimate ? smallChunkBytes(await this.#maxChunkSizeBytes(collection)) : null
        const request = { ns, keyPattern, min, max, estimate: isEstimate, sizeMaxBytes }
        const { sizeBytes, isLarger, error } = await context.request(shard, 'shard.measure-range', request, options)
        if (error !== null) return outcomeOf(error)
        const estimate = { ns, uuid, shard, min, max, sizeBytes: isLarger ? null : sizeBytes }
        const written = await context.request(configAddress, 'config.set-chunk-size-estimate', estimate, {
          timeoutMs: configTimeoutMs,
          signal: stopping,
        })
        return outcomeOf(written.error)
      }
      case 'find-split-points': {
        const maxChunkSizeBytes = await this.#maxChunkSizeBytes(collection)
        const request = { ns, keyPattern, min, max, maxChunkSizeBytes, pointsMax: null }
        const { points, error } = await context.request(shard, 'shard.find-split-points', request, options)
        return error === null ? { status: 'done', points } : outcomeOf(error)
      }
      case 'split': {
        const chunk = collection.chunks.at(range.min)
        if (chunk === undefined || chunk.max !== range.max || chunk.shard !== shard) return failed
        return (await operations.split(collection, chunk, action.points)) === null ? done : failed
      }
    }
  }

  async #maxChunkSizeBytes({ maxChunkSizeBytes }: CollectionView): Promise<number> {
    return maxChunkSizeBytes ?? (await this.#parts.view.chunkSizeBytes())
  }
}

function outcomeOf(error: ErrorField): Outcome {
  if (error === null) return done
  const code = findField(error, 'code')?.asNumber()
  return code !== undefined && isRetriableErrorCode(code) ? retry : failed
}
