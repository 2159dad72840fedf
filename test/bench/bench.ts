export interface BenchRow {
  readonly name: string
  readonly value: string
  /** As a reader sees it: `at most 150 ms`. */
  readonly goal?: string
  /** Only with a goal whose figure was measured. */
  readonly isMissed?: boolean
}

export interface BenchResult {
  readonly title: string
  readonly rows: readonly BenchRow[]
  /** How to read the figures: number of rounds, and the machine. */
  readonly note: string
}

export interface Bench {
  measure(): Promise<BenchResult>
}
