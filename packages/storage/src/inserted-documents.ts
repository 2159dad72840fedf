import type { RecordTable } from './record-table.js'

/** Documents that were inserted all at once, as they were then, whatever becomes of them: views on them are made while somebody goes through them. */
export class InsertedDocuments {
  readonly #records: RecordTable
  readonly #first: number
  readonly count: number
  /** Sum of their sizes. */
  readonly sizeBytes: number

  /** @param records those of the collection, which nobody changes; theirs are `first` and all behind it */
  constructor(records: RecordTable, first: number, count: number, sizeBytes: number) {
    this.#records = records
    this.#first = first
    this.count = count
    this.sizeBytes = sizeBytes
  }

  *[Symbol.iterator](): Generator<Uint8Array, void, void> {
    const scan = this.#records.scan(false, this.#first - 1)
    for (let record = scan.next(); record !== null; record = scan.next()) yield record.document
  }
}
