import { encodeHistogram, newHistogram, note } from '../run/histograms.js'

/** Of one lane, since the measurement began. */
export interface TransactionData {
  readonly committed: number
  /** Runs of a transaction after its first. */
  readonly retries: number
  /** Runs that ended without a commit, by error. */
  readonly aborts: readonly (readonly [code: string, count: number])[]
  /** Histogram of `commitTransaction`, microseconds. */
  readonly commits: string
}

export class TransactionStatistics {
  #committed = 0
  #retries = 0
  #aborts = new Map<string, number>()
  #commits = newHistogram()

  noteCommitted(): void {
    this.#committed++
  }

  noteRetry(): void {
    this.#retries++
  }

  noteAbort(code: string): void {
    this.#aborts.set(code, (this.#aborts.get(code) ?? 0) + 1)
  }

  noteCommit(durationUs: number): void {
    note(this.#commits, durationUs)
  }

  /** After the warm-up. */
  reset(): void {
    this.#committed = 0
    this.#retries = 0
    this.#aborts = new Map()
    this.#commits = newHistogram()
  }

  data(): TransactionData {
    return {
      committed: this.#committed,
      retries: this.#retries,
      aborts: [...this.#aborts],
      commits: encodeHistogram(this.#commits),
    }
  }
}
