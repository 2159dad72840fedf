/** A stage at work: takes documents, gives them to the next. */
export interface StageRun {
  push(document: Uint8Array): void
  /** There is no more input. */
  end(): void
  /** More input cannot change the result. */
  readonly satisfied: boolean
}
