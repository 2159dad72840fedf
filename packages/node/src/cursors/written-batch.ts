export interface WrittenBatch {
  readonly count: number
  readonly exhausted: boolean
  readonly pending: Uint8Array | null
}
