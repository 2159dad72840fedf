/**
 * Returns rows in batches, as `$cursor` passes them to the next stage: when its collection is
 * dropped, a pipeline continues to the end of the batch. Server: document_source_cursor.cpp,
 * internalDocumentSourceCursorBatchSizeBytes and InitialBatchSize.
 */
import { inputsOf, type PlanStage, type QueryPlan } from '@shardlab/storage'
import type { TimeSlice } from '@shardlab/member'
import type { CursorSource } from '../../cursors/cursor-manager.js'
import type { SourceReads } from '../../cursors/source-reads.js'

/** A batch ends with the document that exceeds this. */
const batchBytesMax = 4 * 1024 * 1024
/** More documents than any batch holds. A small integer counts down faster than Infinity. */
const unlimited = 2 ** 30 - 1

/**
 * Reads lazily, because the snapshot does not change. Only the start of a batch checks whether the
 * collection still exists.
 */
export class ReadAheadSource implements CursorSource {
  readonly readsAhead = true
  readonly #rows: CursorSource
  #countMax: number
  #begun = false
  #countLeft = 0
  #bytesLeft = 0

  /**
   * @param firstBatch documents of the first batch, doubled for each later one; 0: limited by bytes
   *   only
   */
  constructor(rows: CursorSource, { root }: QueryPlan, firstBatch: number) {
    this.#rows = rows
    this.#countMax = firstBatch === 0 || hasLimit(root) ? unlimited : firstBatch
  }

  get slice(): TimeSlice | undefined {
    return this.#rows.slice
  }

  save(): void {
    this.#rows.save?.()
  }

  restore(): void {
    this.#rows.restore?.()
  }

  get reads(): SourceReads | undefined {
    return this.#rows.reads
  }

  recordCost(): void {
    this.#rows.recordCost?.()
  }

  next(): Uint8Array | null {
    if (this.#countLeft === 0 || this.#bytesLeft < 0) {
      if (this.#begun) this.reads?.check()
      this.#begun = true
      this.#countLeft = this.#countMax
      this.#countMax = Math.min(unlimited, this.#countMax * 2)
      this.#bytesLeft = batchBytesMax
    }
    const document = this.#rows.next()
    if (document === null) {
      // The end, after which there is no batch to check for.
      if (this.slice?.isOver !== true) this.#countLeft = unlimited
      return null
    }
    this.#countLeft--
    this.#bytesLeft -= document.length
    return document
  }
}

function hasLimit(stage: PlanStage): boolean {
  return stage.stage === 'LIMIT' || inputsOf(stage).some(hasLimit)
}
