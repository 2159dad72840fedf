/**
 * Server: plan_yield_policy.cpp, elapsed_tracker.cpp. Parameters: internalQueryExecYieldIterations,
 * internalQueryExecYieldPeriodMS.
 */
import type { ActorContext } from '@shardlab/actor'
import type { RunningOperation } from './running-operation.js'

export interface SliceLimits {
  /** Units of work: steps of a plan, documents, statements. */
  readonly works: number
  readonly periodMs: number
}

export const defaultSliceLimits: SliceLimits = { works: 1000, periodMs: 10 }

/** Most works between two looks at the clock. */
const clockEveryMax = 64
/** The share of a slice that should pass between two looks. */
const clockShare = 0.2

/**
 * What an operation may compute before it gives up its turn. In a simulation no time passes within
 * a turn, so that only the number of works ends a slice.
 */
export class TimeSlice {
  /** Plans and sources return null until {@link begin}. */
  isOver = false
  readonly #now: Pick<ActorContext, 'now'>
  readonly #limits: SliceLimits
  #endsAtMs: number
  #worksLeft: number
  #untilCheck: number
  #clockEvery = clockEveryMax
  #checkedAtMs: number

  constructor(now: Pick<ActorContext, 'now'>, limits: SliceLimits) {
    this.#now = now
    this.#limits = limits
    this.#checkedAtMs = now.now()
    this.#endsAtMs = this.#checkedAtMs + limits.periodMs
    this.#worksLeft = limits.works
    this.#untilCheck = Math.min(this.#clockEvery, limits.works)
  }

  /** Begins the next slice. */
  begin(): void {
    const { works, periodMs } = this.#limits
    this.isOver = false
    this.#checkedAtMs = this.#now.now()
    this.#endsAtMs = this.#checkedAtMs + periodMs
    this.#worksLeft = works
    this.#untilCheck = Math.min(this.#clockEvery, works)
  }

  worked(): void {
    if (--this.#untilCheck <= 0) this.#check(this.#clockEvery)
  }

  /** For many works at once. */
  add(works: number): void {
    this.#check(works)
  }

  #check(works: number): void {
    this.#worksLeft -= works
    const nowMs = this.#now.now()
    if (this.#worksLeft <= 0 || nowMs >= this.#endsAtMs) this.isOver = true
    this.#adapt(nowMs - this.#checkedAtMs)
    this.#checkedAtMs = nowMs
    this.#untilCheck = Math.min(this.#clockEvery, this.#worksLeft)
  }

  /** One work may be a comparison or a long search with a regular expression. */
  #adapt(elapsedMs: number): void {
    if (elapsedMs > clockShare * this.#limits.periodMs) this.#clockEvery = Math.max(1, this.#clockEvery >> 2)
    else if (this.#clockEvery < clockEveryMax) this.#clockEvery *= 2
  }
}

/**
 * Lets others run, then begins the next slice.
 * @param operation null: background work
 * @throws CommandError 50 MaxTimeMSExpired, or the one with which the operation was killed
 */
export async function giveUpTurn(
  context: Pick<ActorContext, 'nextTurn'>,
  operation: RunningOperation | null,
  slice: TimeSlice,
): Promise<void> {
  if (operation !== null) operation.yields++
  await context.nextTurn()
  operation?.checkForInterrupt()
  operation?.timeLimit?.check()
  slice.begin()
}
