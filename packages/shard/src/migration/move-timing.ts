/**
 * Durations of a migration's steps: the changelog entries `moveChunk.from` and `moveChunk.to`.
 * Server: move_timing_helper.cpp.
 */
import type { ActorContext } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { logChangeIfReachable } from '../common/changelog.js'
import type { KeyRange } from '../ranges/key-range.js'

/** The events that end the donor's steps: `step 1 of 6` and so on in the entry. */
const donorSteps = [
  'requested',
  'checked',
  'recipient-started',
  'recipient-caught-up',
  'recipient-committed',
  'committed',
] as const

/** The events that end the recipient's steps. Until 5.0 the entry has only the first six. */
const recipientSteps = [
  'collection-created',
  'range-deletion-recorded',
  'clone-finished',
  'caught-up',
  'commit-requested',
  'critical-section-entered',
  'released',
  'critical-section-left',
] as const

/** By number of steps. */
const fieldNames = Array.from({ length: recipientSteps.length + 1 }, (_, steps) =>
  Array.from({ length: steps }, (_, i) => `step ${i + 1} of ${steps}`),
)

export class MoveTiming<Step extends string> {
  readonly #context: ActorContext
  readonly #side: 'from' | 'to'
  readonly #steps: readonly Step[]
  readonly #count: number
  readonly #durationsMs: number[] = []
  #stepStartedAtMs: number

  private constructor(context: ActorContext, side: 'from' | 'to', steps: readonly Step[], count: number) {
    this.#context = context
    this.#side = side
    this.#steps = steps
    this.#count = count
    this.#stepStartedAtMs = context.now()
  }

  static ofDonor(context: ActorContext): MoveTiming<(typeof donorSteps)[number]> {
    return new MoveTiming(context, 'from', donorSteps, donorSteps.length)
  }

  /** @param count the behaviour `moveChunkToSteps` */
  static ofRecipient(context: ActorContext, count: number): MoveTiming<(typeof recipientSteps)[number]> {
    return new MoveTiming(context, 'to', recipientSteps, count)
  }

  /** Steps end in the order of the list. */
  done(step: Step): void {
    const now = this.#context.now()
    const n = this.#steps.indexOf(step)
    if (n < this.#count) this.#durationsMs[n] = now - this.#stepStartedAtMs
    this.#stepStartedAtMs = now
  }

  /** @param errmsg the error that ended the migration; null or empty: none */
  write(ns: string, { min, max }: KeyRange, from: string, to: string, errmsg: string | null = null): Promise<unknown> {
    const details = new DocumentWriter(512)
    const names = fieldNames[this.#count]!
    for (let i = 0; i < this.#durationsMs.length; i++) details.int32(names[i]!, this.#durationsMs[i]!)
    details
      .document('min', min)
      .document('max', max)
      .string('to', to)
      .string('from', from)
      .string('note', this.#durationsMs.length === this.#count ? 'success' : 'aborted')
    if (errmsg !== null && errmsg !== '') details.string('errmsg', errmsg)
    return logChangeIfReachable(this.#context, `moveChunk.${this.#side}`, ns, details.finish())
  }
}

export type DonorTiming = ReturnType<typeof MoveTiming.ofDonor>
export type RecipientTiming = ReturnType<typeof MoveTiming.ofRecipient>
