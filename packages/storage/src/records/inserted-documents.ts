import type { RecordTable } from './record-table.js'

/**
 * One batch of documents, unaffected by later changes. Views of them are created during iteration.
 */
export class InsertedDocuments {
  readonly #records: RecordTable
  readonly #first: number
  readonly count: number
  readonly sizeBytes: number

  /**
   * @param records a clone of the collection's table; the batch is `first` and all later records,
   *   without gaps
   */
  constructor(records: RecordTable, first: number, count: number, sizeBytes: number) {
    this.#records = records
    this.#first = first
    this.count = count
    this.sizeBytes = sizeBytes
  }

  [Symbol.iterator](): Generator<Uint8Array, void, void> {
    return this.from(0)
  }

  /** Without the first `skipped` documents. */
  *from(skipped: number): Generator<Uint8Array, void, void> {
    const scan = this.#records.scan(false, this.#first + skipped - 1)
    for (let record = scan.next(); record !== null; record = scan.next()) yield record.document
  }
}
