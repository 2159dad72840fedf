/**
 * Server: balancer_commands_scheduler_impl.cpp, shard_util.cpp,
 * sharding_catalog_manager_chunk_operations.cpp (splitOrMarkJumbo).
 */
import {
  configAddress,
  RequestFailedError,
  type ActorContext,
  type CancelSignal,
  type ErrorField,
  type PlannedMigration,
} from '@shardlab/actor'
import { ErrorCodes, findField } from '@shardlab/bson'
import type { Behaviours, PlacementVersion } from '@shardlab/sharding'
import type { KnownChunk } from '../chunks/chunk-map.js'
import type { BalancerSettings } from '../settings/settings.js'
import { configTimeoutMs, type ClusterView, type CollectionView } from '../cluster-view.js'

/** Of one request. A repeated request joins the running migration. */
const moveTimeoutMs = 60_000
const splitTimeoutMs = 60_000
const splitPointsMax = 8192

const chunkTooBig = ErrorCodes.ChunkTooBig
const exceededMemoryLimit = ErrorCodes.ExceededMemoryLimit
const indexNotFound = ErrorCodes.IndexNotFound

/** A move of a chunk, or of as much of it as one migration takes. */
export interface ChunkMove {
  readonly collection: CollectionView
  readonly chunk: KnownChunk
  readonly to: string
  readonly force: boolean
}

/** Null `max`: the donor chooses the end of the range. */
export interface RangeMove {
  readonly ns: string
  readonly from: string
  readonly to: string
  readonly min: Uint8Array
  readonly max: Uint8Array | null
  readonly force: boolean
}

/** Settings of the balancer for each move. */
export type MoveSettings = Pick<BalancerSettings, 'waitForDelete' | 'secondaryThrottle'>

export interface AttemptedMove {
  /** Null: moved. */
  readonly error: ErrorField
}

export interface MoveResult {
  readonly outcome: PlannedMigration['outcome']
  /** Why the chunk was not moved; null: moved. */
  readonly error: string | null
}

export class ChunkOperations {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  readonly #view: ClusterView
  /** Donor and recipient of each move in progress, both ways. */
  readonly busy = new Map<string, string>()
  readonly #stopping: CancelSignal

  constructor(context: ActorContext, behaviours: Behaviours, view: ClusterView, stopping: CancelSignal) {
    this.#context = context
    this.#behaviours = behaviours
    this.#view = view
    this.#stopping = stopping
  }

  /** If false, the donor chooses how much of a chunk it moves. */
  get movesWholeChunks(): boolean {
    return !this.#behaviours.balancerMovesDataBySize
  }

  /**
   * Splits the chunk, or marks it as jumbo, if it is too large.
   * @throws RequestFailedError when the outcome is unknown
   */
  async move(move: ChunkMove, settings: MoveSettings): Promise<MoveResult> {
    const { collection, chunk, to, force } = move
    const { ns } = collection
    const max = this.movesWholeChunks ? chunk.maxDocument : null
    const { error } = await this.attempt({ ns, from: chunk.shard, to, min: chunk.minDocument, max, force }, settings)
    if (error === null) return { outcome: 'moved', error: null }
    const code = findField(error, 'code')?.asNumber()
    const message = findField(error, 'errmsg')?.asString() ?? ''
    if (code === chunkTooBig || code === exceededMemoryLimit)
      return { outcome: await this.#splitOrMarkJumbo(collection, chunk), error: message }
    if (
      code === indexNotFound &&
      this.#behaviours.balancerStopsAtMissingHashedIndex &&
      collection.chunks.shardKey.isHashed
    )
      await this.#context.request(configAddress, 'config.disable-balancing', { ns }, { timeoutMs: configTimeoutMs })
    return { outcome: 'failed', error: message }
  }

  /** @throws RequestFailedError when the outcome is unknown */
  async attempt({ ns, from, to, min, max, force }: RangeMove, settings: MoveSettings): Promise<AttemptedMove> {
    const { waitForDelete, secondaryThrottle } = settings
    const request = { ns, min, max, to, forceJumbo: force, waitForDelete, secondaryThrottle }
    this.busy.set(from, to).set(to, from)
    try {
      for (;;) {
        try {
          const options = { timeoutMs: moveTimeoutMs, signal: this.#stopping }
          return await this.#context.request(configAddress, 'config.move-range', request, options)
        } catch (error) {
          if (!(error instanceof RequestFailedError) || error.reason !== 'timed-out') throw error
        }
      }
    } finally {
      this.busy.delete(from)
      this.busy.delete(to)
    }
  }

  /** @returns why the chunk was not split; null: it was */
  async split(
    { ns, chunks: { version } }: CollectionView,
    chunk: KnownChunk,
    points: readonly Uint8Array[],
  ): Promise<string | null> {
    const [epoch, seconds, increment] = version
    const request = {
      ns,
      generation: [epoch, seconds, increment] as const,
      min: chunk.minDocument,
      max: chunk.maxDocument,
      splitPoints: points.slice(0, splitPointsMax),
    }
    try {
      const { error } = await this.#context.request(chunk.shard, 'shard.split-chunk', request, {
        timeoutMs: splitTimeoutMs,
        signal: this.#stopping,
      })
      return error === null ? null : (findField(error, 'errmsg')?.asString() ?? '')
    } catch (error) {
      if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
      return error.message
    }
  }

  async #splitOrMarkJumbo(
    { ns, maxChunkSizeBytes }: CollectionView,
    moved: KnownChunk,
  ): Promise<'split' | 'jumbo' | 'failed'> {
    const collection = await this.#view.collection(ns)
    const chunk = collection?.chunks.holding(moved.min)
    if (collection === null || chunk === undefined) return 'failed'
    const { points, error } = await this.#context.request(
      chunk.shard,
      'shard.find-split-points',
      {
        ns,
        keyPattern: collection.chunks.shardKey.document,
        min: chunk.minDocument,
        max: chunk.maxDocument,
        maxChunkSizeBytes: maxChunkSizeBytes ?? (await this.#view.chunkSizeBytes()),
        pointsMax: this.#behaviours.oversizedChunksAreSplitOnce ? 1 : null,
      },
      { timeoutMs: splitTimeoutMs, signal: this.#stopping },
    )
    if (error !== null) return 'failed'
    if (points.length > 0) return (await this.split(collection, chunk, points)) === null ? 'split' : 'failed'
    await this.#markJumbo(ns, collection.chunks.version, chunk)
    return 'jumbo'
  }

  async #markJumbo(
    ns: string,
    version: PlacementVersion,
    { minDocument, maxDocument, min }: KnownChunk,
  ): Promise<void> {
    this.#context.log('info', 'a chunk is too large to move and cannot be split: it is jumbo', { ns })
    await this.#context.request(
      configAddress,
      'config.mark-chunk-jumbo',
      { ns, version, min: minDocument, max: maxDocument },
      { timeoutMs: configTimeoutMs },
    )
    this.#view.noteJumbo(ns, min)
  }
}
