/** The figures of a bench. */
export interface BenchResult {
  readonly title: string
  readonly rows: readonly { readonly name: string; readonly value: string; readonly goal?: string }[]
  /** How to read the figures: medians of how many rounds, on what machine. */
  readonly note: string
}

export interface Bench {
  measure(): Promise<BenchResult>
}
