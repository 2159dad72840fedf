/** One kind of thing that happens in a run. */
import type { ActivityName } from '../types.js'

export interface Activity {
  readonly name: ActivityName
  /** By name: how often what was done. */
  readonly done: ReadonlyMap<string, number>
  /** Before anything goes wrong. */
  prepare(): Promise<void>
  /** Goes on as long as clients are at work, or is such a client. @throws WrongAnswerError */
  run(): Promise<void>
  /** When all is healed: what is wrong goes to the verdicts. */
  finish(): Promise<void>
}

/** Counts by name. */
export class Tally {
  readonly counts = new Map<string, number>()

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}
