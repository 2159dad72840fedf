/** What the phases of a defragmentation have in common. Server: balancer_defragmentation_policy.h. */
import type { KnownChunk } from '../chunk-map.js'
import { noZone, type Distribution } from '../policy/index.js'

/** As config.collections has them. */
export type PhaseName = 'mergeAndMeasureChunks' | 'moveAndMergeChunks' | 'mergeChunks' | 'splitChunks' | 'finished'

/** Is it a phase that something has to be done in? */
export function isPhase(name: string): name is PhaseName {
  return ['mergeAndMeasureChunks', 'moveAndMergeChunks', 'mergeChunks', 'splitChunks'].includes(name)
}

/** A part of the key space: bounds as KeyStrings, and as config.chunks has them. */
export type ChunkBounds = Pick<KnownChunk, 'min' | 'max' | 'minDocument' | 'maxDocument'>

/** Something that is to be done on one shard, and moves nothing. */
export type Action =
  | { readonly kind: 'merge' | 'measure' | 'find-split-points'; readonly shard: string; readonly range: ChunkBounds }
  | {
      readonly kind: 'split'
      readonly shard: string
      readonly range: ChunkBounds
      readonly points: readonly Uint8Array[]
    }

export interface Outcome {
  /** `retry`: it may succeed as it is; `failed`: the chunks are not what the phase took them for. */
  readonly status: 'done' | 'retry' | 'failed'
  /** Where the range can be split; empty for all other actions. */
  readonly points: readonly Uint8Array[]
}

/** A small chunk that is to join its neighbour on another shard. */
export interface DefragmentationMove {
  readonly range: ChunkBounds
  readonly from: string
  readonly to: string
  /** One sentence for people. */
  readonly because: string
}

/** `too-large`: the chunk is not small after all; `not-deleted-yet`: the receiver has to delete that range first. */
export type MoveOutcome = 'done' | 'retry' | 'too-large' | 'not-deleted-yet' | 'failed'

/** One phase of one collection. It lives in memory only; its name is in the catalog. */
export interface Phase {
  readonly name: PhaseName
  /** The phase after this one, when it is complete. */
  readonly next: PhaseName
  readonly isComplete: boolean
  /** How many chunks are still to be looked at, as people are told. */
  readonly remaining: number
  /** The next thing to do, which counts as begun; null: nothing now. */
  nextAction(): Action | null
  applied(action: Action, outcome: Outcome): void
  /** The next migration, which counts as begun and takes both its shards out of `available`; null: none now. */
  nextMove(available: Set<string>): DefragmentationMove | null
  moved(move: DefragmentationMove, outcome: MoveOutcome): void
  /** Nothing more is begun; {@link next} is this one. */
  abort(next: PhaseName): void
}

/** The zone that holds a whole range. */
export type ZoneOf = (range: { readonly min: string; readonly max: string }) => string

export function zonesOf(distribution: Distribution): ZoneOf {
  return distribution.zones.length === 0
    ? () => noZone
    : ({ min, max }) => distribution.zoneOf({ min, max, shard: '', isJumbo: false })
}

/** Runs of neighbours of one shard and zone, in key order; each chunk is in one. */
export function runsOf<C extends KnownChunk>(chunks: readonly C[], zoneOf: ZoneOf): C[][] {
  const runs: C[][] = []
  for (const chunk of chunks) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (last !== undefined && last.max === chunk.min && last.shard === chunk.shard && zoneOf(last) === zoneOf(chunk))
      run!.push(chunk)
    else runs.push([chunk])
  }
  return runs
}

/** What a run covers. */
export function boundsOf(run: readonly ChunkBounds[]): ChunkBounds {
  const first = run[0]!
  const last = run.at(-1)!
  return { min: first.min, minDocument: first.minDocument, max: last.max, maxDocument: last.maxDocument }
}
