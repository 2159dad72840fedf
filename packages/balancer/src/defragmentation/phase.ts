/** Server: balancer_defragmentation_policy.h. */
import type { KnownChunk } from '../chunks/chunk-map.js'
import { noZone, type Distribution } from '../policy/index.js'

/** As stored in config.collections. */
export type PhaseName = 'mergeAndMeasureChunks' | 'moveAndMergeChunks' | 'mergeChunks' | 'splitChunks' | 'finished'

/** False for `finished`. */
export function isPhase(name: string): name is PhaseName {
  return ['mergeAndMeasureChunks', 'moveAndMergeChunks', 'mergeChunks', 'splitChunks'].includes(name)
}

/** Bounds as KeyStrings, and as stored in config.chunks. */
export type ChunkBounds = Pick<KnownChunk, 'min' | 'max' | 'minDocument' | 'maxDocument'>

/** Work on one shard that moves nothing. */
export type Action =
  | { readonly kind: 'merge' | 'measure' | 'find-split-points'; readonly shard: string; readonly range: ChunkBounds }
  | {
      readonly kind: 'split'
      readonly shard: string
      readonly range: ChunkBounds
      readonly points: readonly Uint8Array[]
    }

export interface Outcome {
  /**
   * `retry`: the same action may succeed later; `failed`: the chunks differ from what the phase
   * assumed.
   */
  readonly status: 'done' | 'retry' | 'failed'
  /** Empty unless the action was to find split points. */
  readonly points: readonly Uint8Array[]
}

export interface DefragmentationMove {
  readonly range: ChunkBounds
  readonly from: string
  readonly to: string
  readonly because: string
}

/**
 * `too-large`: the chunk is not small after all; `not-deleted-yet`: the recipient must delete that
 * range first.
 */
export type MoveOutcome = 'done' | 'retry' | 'too-large' | 'not-deleted-yet' | 'failed'

/** In memory only; the catalog stores its name. */
export interface Phase {
  readonly name: PhaseName
  readonly next: PhaseName
  readonly isComplete: boolean
  readonly remaining: number
  /** Starts the next action; null: none now. */
  nextAction(): Action | null
  applied(action: Action, outcome: Outcome): void
  /** Starts the next migration and removes both its shards from `available`; null: none now. */
  nextMove(available: Set<string>): DefragmentationMove | null
  moved(move: DefragmentationMove, outcome: MoveOutcome): void
  /** Starts nothing more, and continues with `next`. */
  abort(next: PhaseName): void
}

/** The zone that contains a whole range. */
export type ZoneOf = (range: { readonly min: string; readonly max: string }) => string

export function zonesOf(distribution: Distribution): ZoneOf {
  return distribution.zones.length === 0
    ? () => noZone
    : ({ min, max }) => distribution.zoneOf({ min, max, shard: '', isJumbo: false })
}

/** Runs are neighbours of the same shard and zone, in key order. */
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

export function boundsOf(run: readonly ChunkBounds[]): ChunkBounds {
  const first = run[0]!
  const last = run.at(-1)!
  return { min: first.min, minDocument: first.minDocument, max: last.max, maxDocument: last.maxDocument }
}
