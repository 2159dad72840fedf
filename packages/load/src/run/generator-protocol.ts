/** Messages between a run and a generator elsewhere, which plays one lane. Plain data. */
import type { LaneProgress, Segment } from './lane.js'

/** A message of another generator than the addressed one is ignored. */
export type ToGenerator = { readonly to: string } & (
  | { readonly type: 'ping'; readonly ping: number; readonly cycleLimit: number }
  | { readonly type: 'run'; readonly run: SegmentOfGenerator }
  | { readonly type: 'stop' | 'finish' }
)

export interface SegmentOfGenerator {
  /** By the clock of the generator. */
  readonly segment: Segment
  /** Those before it, which determine the records of this one. */
  readonly earlier: readonly Pick<Segment, 'cyclesSoFar' | 'weights'>[]
  /** Another generator may have run the cycles before. */
  readonly fromCycle: number
}

export type FromGenerator = { readonly from: string } &
  /** `lapsed`: it has ended, because the run was silent; `closed`: its result follows. */
  (
    | { readonly type: 'ready' | 'lapsed' | 'closed' }
    | { readonly type: 'pong'; readonly ping: number; readonly nowUs: number; readonly progress: GeneratorProgress }
    | { readonly type: 'ran'; readonly next: number }
  )

export interface GeneratorProgress extends LaneProgress {
  /** The next cycle of the lane. */
  readonly next: number
}
