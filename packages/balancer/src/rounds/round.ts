/**
 * Splits chunks that zones cut, selects migrations collection by collection in random order, then
 * runs them all at the same time. Server: balancer.cpp (_mainThread, _splitChunksIfNeeded,
 * _moveChunks), balancer_chunk_selection_policy_impl.cpp (selectChunksToMove).
 */
import {
  RequestFailedError,
  type ActorContext,
  type BalancerRoundEvent,
  type BlockedBalance,
  type PlannedMigration,
  type PlannedSplit,
  type Random,
} from '@shardlab/actor'
import { findField, toExtendedJson } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import PQueue from 'p-queue'
import type { AttemptedMove, ChunkOperations } from './chunk-operations.js'
import type { KnownChunk } from '../chunks/chunk-map.js'
import { zoneSplitsOf, type ClusterView, type CollectionSwitches, type CollectionView } from '../cluster-view.js'
import type { WantedMove } from '../defragmentation/defragmentation.js'
import type { Defragmentations } from '../defragmentation/defragmentations.js'
import {
  selectByCustomPolicy,
  selectMigrations,
  type BalancePolicy,
  type ChunkPlace,
  type Migration,
  type ShardStatistics,
} from '../policy/index.js'
import type { BalancerSettings } from '../settings/settings.js'

const sizesPerRequest = 20
/** Bounds only the requests to the config server: no shard takes part in two migrations. */
const migrationsInFlightMax = 256

export interface Candidate extends Migration {
  readonly collection: CollectionView
  readonly chunk: KnownChunk
}

export interface RoundResult extends Pick<BalancerRoundEvent, 'splits' | 'migrations' | 'blocked'> {
  readonly selectionMs: number
  readonly pauseMs: number
  readonly migrationMs: number
}

export interface RoundOptions {
  readonly settings: BalancerSettings
  /** Whether the round waits until shards have finished the current work of defragmentations. */
  readonly waitsForShards: boolean
  /**
   * Called before migrations start.
   * @returns the length of the pause in ms
   */
  readonly pause: () => Promise<number>
  /** Checked again before anything moves. */
  readonly mayMove: () => Promise<boolean>
}

export class Round {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  readonly #view: ClusterView
  readonly #operations: ChunkOperations
  readonly #defragmentations: Defragmentations
  readonly #random: Random
  readonly #policy: BalancePolicy | null
  /** Collections in which the latest rounds moved something: they are selected first. */
  readonly #imbalanced: Set<string>
  /** Collections that this round has read and not changed since. */
  readonly #seen = new Map<string, CollectionView>()
  readonly #splits: PlannedSplit[] = []
  readonly #migrations: PlannedMigration[] = []
  readonly #blocked: BlockedBalance[] = []

  constructor(
    parts: {
      readonly context: ActorContext
      readonly behaviours: Behaviours
      readonly view: ClusterView
      readonly operations: ChunkOperations
      readonly defragmentations: Defragmentations
      readonly random: Random
      readonly policy: BalancePolicy | null
    },
    imbalanced: Set<string>,
  ) {
    this.#context = parts.context
    this.#behaviours = parts.behaviours
    this.#view = parts.view
    this.#operations = parts.operations
    this.#defragmentations = parts.defragmentations
    this.#random = parts.random
    this.#policy = parts.policy
    this.#imbalanced = imbalanced
  }

  /** @throws RequestFailedError, CommandError when the round cannot continue; StepFailedError */
  async run(options: RoundOptions): Promise<RoundResult> {
    const startedAtMs = this.#context.now()
    const shards = await this.#view.shards()
    const collections = await this.#view.collections()
    await this.#defragmentations.refresh(collections)
    await this.#workOnShards(options)
    for (const collection of collections) await this.#splitAtZones(collection)
    const available = new Set(shards.map(({ id }) => id))
    const wanted = this.#defragmentations.selectMoves(available, (values) => this.#random.shuffled(values))
    const results = new Map<WantedMove, AttemptedMove>()
    try {
      const candidates = await this.#select(shards, collections, available, options.settings)
      const selectionMs = this.#context.now() - startedAtMs
      const count = candidates.length + wanted.length
      await this.#context.reach('balancer.round.selected', { migrations: count })
      const pauseMs = count === 0 ? 0 : await options.pause()
      const migrationsAtMs = startedAtMs + selectionMs + pauseMs
      if (count > 0) await this.#moveAll(candidates, wanted, results, options)
      const migrationMs = count === 0 ? 0 : this.#context.now() - migrationsAtMs
      return {
        splits: this.#splits,
        migrations: this.#migrations,
        blocked: this.#blocked,
        selectionMs,
        pauseMs,
        migrationMs,
      }
    } finally {
      for (const move of wanted) this.#defragmentations.moved(move, results.get(move) ?? null)
      await this.#workOnShards(options)
    }
  }

  async #workOnShards({ waitsForShards }: RoundOptions): Promise<void> {
    this.#defragmentations.work()
    if (waitsForShards) await this.#defragmentations.idle()
  }

  async #splitAtZones({ ns }: CollectionSwitches): Promise<void> {
    const collection = await this.#view.collection(ns)
    if (collection === null) return
    const splits = zoneSplitsOf(collection)
    if (splits.length === 0) this.#seen.set(ns, collection)
    for (const { chunk, points } of splits) {
      const error = await this.#operations.split(collection, chunk, points)
      if (error !== null) this.#context.log('warn', 'a chunk was not split at the bounds of zones', { ns, error })
      this.#splits.push({
        ns,
        shard: chunk.shard,
        min: toExtendedJson(chunk.minDocument),
        max: toExtendedJson(chunk.maxDocument),
        points: points.map((point) => toExtendedJson(point)),
        error,
      })
    }
  }

  async #select(
    shards: readonly ShardStatistics[],
    collections: readonly CollectionSwitches[],
    available: Set<string>,
    settings: BalancerSettings,
  ): Promise<Candidate[]> {
    if (shards.length < 2) return []
    const balanced = collections.filter(
      (each) => !each.isSwitchedOff && each.mayMigrate && !each.isDefragmenting && !each.isUnsplittable,
    )
    const names = new Set(balanced.map(({ ns }) => ns))
    for (const ns of this.#imbalanced) if (!names.has(ns)) this.#imbalanced.delete(ns)
    const first = balanced.filter(({ ns }) => this.#imbalanced.has(ns))
    const inOrder = [...first, ...this.#random.shuffled(balanced.filter(({ ns }) => !this.#imbalanced.has(ns)))]
    const chunkSizeBytes = await this.#view.chunkSizeBytes()
    const candidates: Candidate[] = []
    for (let at = 0; at < inOrder.length && available.size >= 2; at += sizesPerRequest) {
      const batch = inOrder.slice(at, at + sizesPerRequest)
      const sizes = this.#behaviours.balancerMovesDataBySize
        ? await this.#view.sizes(
            shards,
            batch.map(({ ns }) => ns),
          )
        : new Map<string, readonly number[]>()
      for (const [i, { ns }] of batch.entries()) {
        const bytes = new Map([...sizes].map(([shard, all]) => [shard, all[i]!]))
        candidates.push(...(await this.#candidatesOf(ns, { shards, available, bytes, chunkSizeBytes, settings })))
        if (available.size < 2) break
      }
    }
    return candidates
  }

  async #candidatesOf(
    ns: string,
    {
      shards,
      available,
      bytes,
      chunkSizeBytes,
      settings,
    }: {
      readonly shards: readonly ShardStatistics[]
      readonly available: Set<string>
      readonly bytes: ReadonlyMap<string, number>
      readonly chunkSizeBytes: number
      readonly settings: BalancerSettings
    },
  ): Promise<Candidate[]> {
    const collection = this.#seen.get(ns) ?? (await this.#view.collection(ns))
    // A chunk that a zone cuts belongs to no zone until it is split.
    if (collection === null || zoneSplitsOf(collection).length > 0) return []
    const size = collection.maxChunkSizeBytes ?? chunkSizeBytes
    const isParallel = this.#behaviours.balancerMigratesInParallel
    const input = {
      shards,
      distribution: collection.distribution,
      load: this.#view.load(shards, collection, bytes, size),
      available: isParallel ? available : new Set(available),
      attemptJumbo: settings.attemptToBalanceJumboChunks,
    }
    const { migrations, blocked } =
      this.#policy === null
        ? selectMigrations(input)
        : selectByCustomPolicy(this.#policy, { ...input, ns, bytes, chunkSizeBytes: size, boundsOf: boundTextsOf })
    for (const each of blocked) this.#blocked.push({ ns, ...each })
    if (migrations.length === 0) this.#imbalanced.delete(ns)
    else this.#imbalanced.add(ns)
    const chosen = isParallel ? migrations : migrations.slice(0, 1)
    return chosen.map(({ chunk, from, to, reason, because, force }) => ({
      chunk: chunk as KnownChunk,
      from,
      to,
      reason,
      because,
      force,
      collection,
    }))
  }

  async #moveAll(
    candidates: readonly Candidate[],
    wanted: readonly WantedMove[],
    results: Map<WantedMove, AttemptedMove>,
    { settings, mayMove }: RoundOptions,
  ): Promise<void> {
    if (!(await mayMove())) {
      for (const candidate of candidates) this.#note(candidate, 'not-begun', 'the balancer was stopped')
      return
    }
    if (!this.#behaviours.balancerMigratesInParallel) {
      for (const candidate of candidates) await this.#move(candidate, settings)
      return
    }
    const inFlight = new PQueue({ concurrency: migrationsInFlightMax })
    await inFlight.addAll([
      ...candidates.map((candidate) => () => this.#move(candidate, settings)),
      ...wanted.map((move) => () => this.#moveToNeighbour(move, results, settings)),
    ])
  }

  async #moveToNeighbour(
    wanted: WantedMove,
    results: Map<WantedMove, AttemptedMove>,
    settings: BalancerSettings,
  ): Promise<void> {
    const { ns } = wanted.defragmentation
    const { range, from, to, because } = wanted.move
    const { minDocument: min, maxDocument: max } = range
    const force = !this.#behaviours.defragmentationEstimatesSizes
    const planned = {
      ns,
      from,
      to,
      min: toExtendedJson(min),
      max: toExtendedJson(max),
      reason: 'defragment',
      because,
    } as const
    try {
      const result = await this.#operations.attempt({ ns, from, to, min, max, force }, settings)
      results.set(wanted, result)
      const error = result.error === null ? null : (findField(result.error, 'errmsg')?.asString() ?? '')
      this.#migrations.push({ ...planned, outcome: error === null ? 'moved' : 'failed', error })
    } catch (error) {
      if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
      this.#migrations.push({ ...planned, outcome: 'failed', error: error.message })
    }
  }

  async #move(candidate: Candidate, settings: BalancerSettings): Promise<void> {
    const { ns } = candidate.collection
    try {
      const { outcome, error } = await this.#operations.move(candidate, settings)
      if (error !== null)
        this.#context.log('info', 'a chunk was not moved', {
          ns,
          from: candidate.from,
          to: candidate.to,
          outcome,
          error,
        })
      this.#note(candidate, outcome, error)
    } catch (error) {
      if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
      this.#note(candidate, 'failed', error.message)
    }
  }

  #note(
    { collection, chunk, from, to, reason, because }: Candidate,
    outcome: PlannedMigration['outcome'],
    error: string | null,
  ): void {
    this.#migrations.push({
      ns: collection.ns,
      from,
      to,
      min: toExtendedJson(chunk.minDocument),
      max: this.#operations.movesWholeChunks ? toExtendedJson(chunk.maxDocument) : null,
      reason,
      because,
      outcome,
      error,
    })
  }
}

function boundTextsOf(chunk: ChunkPlace): { readonly min: string; readonly max: string } {
  const { minDocument, maxDocument } = chunk as KnownChunk
  return { min: toExtendedJson(minDocument), max: toExtendedJson(maxDocument) }
}
