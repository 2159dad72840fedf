import { toExtendedJson } from '@shardlab/bson'
import { counted } from '@shardlab/quantities'
import type { Behaviours } from '@shardlab/sharding'
import { zoneSplitsOf, type ClusterView, type CollectionView, type ZoneSplit } from '../cluster-view.js'
import { bytesOf, requireSharded } from './collection-status.js'
import type { Defragmentations } from '../defragmentation/defragmentations.js'
import {
  largestToMean,
  noZone,
  selectMigrations,
  shardsOf,
  sizeThresholdChunks,
  type Selection,
  type ShardStatistics,
} from '../policy/index.js'
import { reasonForRest, windowText, type BalancerSettings } from '../settings/settings.js'

/** Bounds are relaxed Extended JSON texts of shard key values. */
export interface BalancerExplanation {
  readonly ns: string
  /** Whether a round would neither split nor move anything, and nothing blocks a change. */
  readonly balanced: boolean
  /** One sentence: what blocks the next change, what it will be, or that none is needed. */
  readonly answer: string
  readonly policy: 'chunk count' | 'data size'
  readonly chunkSizeBytes: number
  /**
   * The smallest difference between two shards that moves a chunk; null: the policy counts chunks.
   */
  readonly thresholdBytes: number | null
  /** One sentence why rounds are off at the moment; null: they are on. */
  readonly resting: string | null
  /** `hh:mm to hh:mm` (UTC); null: rounds at any time. */
  readonly activeWindow: string | null
  readonly attemptToBalanceJumboChunks: boolean
  readonly collection: {
    /** `sh.disableBalancing` */
    readonly noBalance: boolean
    /** `setAllowMigrations` */
    readonly allowMigrations: boolean
    readonly defragmenting: boolean
  }
  /** Null: none, or not started yet. */
  readonly defragmentation: { readonly phase: string; readonly remainingChunks: number } | null
  readonly shards: readonly ExplainedShard[]
  readonly zones: readonly ExplainedZone[]
  /** Splits due at the bounds of zones. Nothing of the collection moves before they are done. */
  readonly splits: readonly {
    readonly shard: string
    readonly min: string
    readonly max: string
    readonly points: readonly string[]
  }[]
  /** The moves of the next round, strongest reason first. */
  readonly candidates: readonly {
    readonly from: string
    readonly to: string
    readonly min: string
    readonly max: string
    readonly reason: string
    readonly because: string
  }[]
  /** Why there are no more candidates, by zone. */
  readonly notes: readonly string[]
}

export interface ExplainedZone {
  readonly zone: string
  readonly chunks: number
  readonly shards: readonly string[]
  /**
   * The largest of its shards that do not drain, divided by their mean: bytes of the collection, or
   * chunks of the zone where the version counts chunks. 1: even. null: no such shard.
   */
  readonly largestToMean: number | null
}

export interface ExplainedShard {
  readonly id: string
  /**
   * Of this collection without orphans; null: the shard did not reply, or the version counts
   * chunks.
   */
  readonly bytes: number | null
  readonly chunks: number
  readonly jumboChunks: number
  readonly zones: readonly string[]
  readonly draining: boolean
  /** The shard with which it exchanges a chunk on the balancer's request; null: none. */
  readonly busyWith: string | null
}

export interface ExplainParts {
  readonly view: ClusterView
  readonly behaviours: Behaviours
  readonly defragmentations: Defragmentations
  /** A string is the reason why the settings are invalid. */
  readonly settings: BalancerSettings | string
  readonly nowMs: number
  readonly busy: ReadonlyMap<string, string>
}

/** @throws CommandError 118 NamespaceNotSharded */
export async function explainCollection(parts: ExplainParts, ns: string): Promise<BalancerExplanation> {
  const { view, behaviours, settings, nowMs, busy } = parts
  const collection = await requireSharded(view, behaviours, ns)
  const chunkSizeBytes = collection.maxChunkSizeBytes ?? (await view.chunkSizeBytes())
  const shards = await view.shards()
  const bySize = behaviours.balancerMovesDataBySize
  const bytes = await bytesOf(view, shards, ns)
  const splits = zoneSplitsOf(collection)
  const attemptJumbo = typeof settings !== 'string' && settings.attemptToBalanceJumboChunks
  const load = view.load(shards, collection, bytes, chunkSizeBytes)
  const available = new Set(shards.map(({ id }) => id))
  const selection: Selection =
    splits.length > 0 || shards.length < 2 || collection.isDefragmenting
      ? { migrations: [], notes: [], blocked: [] }
      : selectMigrations({ shards, distribution: collection.distribution, load, available, attemptJumbo })
  const resting = typeof settings === 'string' ? settings : reasonForRest(settings, nowMs)
  const { distribution } = collection
  const stuck = stuckSentence(collection, shards) ?? blockedSentence(selection)
  const phase = parts.defragmentations.phaseOf(collection.document)
  const defragmentation = phase === null ? null : { phase: phase.name, remainingChunks: phase.remaining }
  return {
    ns,
    balanced: splits.length === 0 && selection.migrations.length === 0 && stuck === null && !collection.isDefragmenting,
    answer: answerOf(collection, { shards, splits, selection, stuck, resting, defragmentation }),
    policy: bySize ? 'data size' : 'chunk count',
    chunkSizeBytes,
    thresholdBytes: bySize ? sizeThresholdChunks * chunkSizeBytes : null,
    resting,
    activeWindow: typeof settings === 'string' || settings.activeWindow === null ? null : windowText(settings),
    attemptToBalanceJumboChunks: attemptJumbo,
    collection: {
      noBalance: collection.isSwitchedOff,
      allowMigrations: collection.mayMigrate,
      defragmenting: collection.isDefragmenting,
    },
    defragmentation,
    shards: shards.map(({ id, isDraining, zones }) => ({
      id,
      bytes: bytes.get(id) ?? null,
      chunks: distribution.countOn(id),
      jumboChunks: distribution.chunksOn(id).filter(({ chunk }) => chunk.isJumbo).length,
      zones,
      draining: isDraining,
      busyWith: busy.get(id) ?? null,
    })),
    zones: distribution.zones.map((zone) => {
      const members = shardsOf(zone, shards)
      const staying = members.filter(({ isDraining }) => !isDraining)
      const amounts = staying.map(({ id }) => (bySize ? (bytes.get(id) ?? 0) : distribution.countOn(id, zone)))
      return {
        zone,
        chunks: distribution.countIn(zone),
        shards: members.map(({ id }) => id),
        largestToMean: amounts.length === 0 ? null : largestToMean(amounts),
      }
    }),
    splits: splits.map(({ chunk, points }) => ({
      shard: chunk.shard,
      min: toExtendedJson(chunk.minDocument),
      max: toExtendedJson(chunk.maxDocument),
      points: points.map((point) => toExtendedJson(point)),
    })),
    candidates: selection.migrations.map(({ chunk, from, to, reason, because }) => {
      const { minDocument, maxDocument } = collection.chunks.at(chunk.min)!
      return { from, to, min: toExtendedJson(minDocument), max: toExtendedJson(maxDocument), reason, because }
    }),
    notes: selection.notes,
  }
}

interface Findings {
  readonly shards: readonly ShardStatistics[]
  readonly splits: readonly ZoneSplit[]
  readonly selection: Selection
  /** One sentence; null: nothing. */
  readonly stuck: string | null
  readonly resting: string | null
  readonly defragmentation: BalancerExplanation['defragmentation']
}

function answerOf(
  collection: CollectionView,
  { shards, splits, selection, stuck, resting, defragmentation }: Findings,
): string {
  const { ns } = collection
  if (collection.isDefragmenting) return defragmentationSentence(ns, resting, defragmentation)
  const wanted = splits.length + selection.migrations.length > 0
  if (shards.length < 2) return 'There is only one shard: nothing can move until another one is added.'
  if (wanted && resting !== null) return `A round would change something, but ${resting}.`
  if (wanted && collection.isSwitchedOff && splits.length === 0)
    return `Chunks would move, but balancing is switched off for ${ns}: sh.enableBalancing("${ns}").`
  if (wanted && !collection.mayMigrate && splits.length === 0)
    return `Chunks would move, but migrations of ${ns} are not allowed: sh.enableMigrations("${ns}").`
  if (splits.length > 0)
    return `Zones begin or end within ${counted(splits.length, 'chunk')}: the next round splits ${splits.length === 1 ? 'it' : 'them'}, then chunks can move.`
  const [first] = selection.migrations
  if (first !== undefined)
    return `The next round moves ${counted(selection.migrations.length, 'chunk')}, the first from ${first.from} to ${first.to}: ${first.because}.`
  if (stuck !== null) return stuck
  return `Nothing has to move: ${selection.notes.at(-1) ?? 'no chunk is where it does not belong'}.`
}

function defragmentationSentence(
  ns: string,
  resting: string | null,
  defragmentation: BalancerExplanation['defragmentation'],
): string {
  if (resting !== null) return `A defragmentation of ${ns} is due, but ${resting}.`
  if (defragmentation === null)
    return `A defragmentation of ${ns} starts in the next round; nothing is balanced until it ends.`
  const { phase, remainingChunks } = defragmentation
  return `A defragmentation of ${ns} is in phase ${phase}, with ${counted(remainingChunks, 'chunk')} to go; nothing is balanced until it ends.`
}

function blockedSentence({ migrations, blocked }: Selection): string | null {
  const [first] = blocked
  if (first === undefined || migrations.length > 0) return null
  return `${first.because[0]!.toUpperCase()}${first.because.slice(1)}.`
}

/** Names chunks that should leave their shard and cannot. */
function stuckSentence({ ns, distribution }: CollectionView, shards: readonly ShardStatistics[]): string | null {
  for (const { id, isDraining, zones } of shards) {
    const misplaced = distribution
      .chunksOn(id)
      .filter(({ zone }) => isDraining || (zone !== noZone && !zones.includes(zone)))
    const jumbo = misplaced.filter(({ chunk }) => chunk.isJumbo).length
    if (jumbo > 0)
      return `${counted(jumbo, 'jumbo chunk')} of ${ns} cannot leave ${id}: split ${jumbo === 1 ? 'it' : 'them'}, clear the mark with clearJumboFlag, or use moveChunk with forceJumbo.`
    const homeless = misplaced.find(
      ({ zone }) => !shards.some((shard) => !shard.isDraining && (zone === noZone || shard.zones.includes(zone))),
    )
    if (homeless !== undefined)
      return homeless.zone === noZone
        ? `Chunks of ${ns} cannot leave ${id}: every other shard is draining.`
        : `Chunks of ${ns} on ${id} belong to zone ${homeless.zone}, which no shard carries that is not draining: sh.addShardToZone(shard, "${homeless.zone}").`
  }
  return null
}
