/** A table of guarantees: which anomalies readers meet in runs of a kind. */
export interface Table<R, C, A extends string> {
  readonly name: string
  readonly runs: readonly R[]
  readonly anomalies: readonly A[]
  /** One for each reader of a run. */
  readonly cellsOf: (run: R) => readonly C[]
  /** Whether the manual excludes the anomaly. */
  readonly isExcluded: (cell: C, anomaly: A) => boolean
  readonly nameOf: (cell: C) => string
  readonly titleOf: (run: R) => string
  /** @returns the anomalies of each cell */
  readonly play: (run: R, seed: number) => Promise<readonly (readonly A[])[]>
}
