export interface BenchResult {
  readonly title: string
  readonly rows: readonly { readonly name: string; readonly value: string; readonly goal?: string }[]
  /** How to read the figures: number of rounds, and the machine. */
  readonly note: string
}

export interface Bench {
  measure(): Promise<BenchResult>
}
