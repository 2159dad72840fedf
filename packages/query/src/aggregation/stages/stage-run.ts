/** Takes documents and pushes its results to the next stage. */
export interface StageRun {
  push(document: Uint8Array): void
  end(): void
  /** More input cannot change the result. */
  readonly satisfied: boolean
}
