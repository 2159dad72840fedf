/** Where the documents of a collection lie: views on the slabs of an {@link Arena}, which its records name. */
import { Arena } from './arena.js'
import type { RecordTable } from './record-table.js'

/** Dead bytes in slabs below which a collection is never rewritten. */
const tolerableGarbageBytes = 8 * 1024 * 1024

export class DocumentStore {
  readonly #records: RecordTable
  #arena = new Arena()

  constructor(records: RecordTable) {
    this.#records = records
  }

  /** Stores a copy of the document under this id, in the place of the one that was there. @returns the copy */
  put(recordId: number, document: Uint8Array): Uint8Array {
    const stored = this.#arena.store(document, this.#records.count * document.length)
    this.#records.set(recordId, stored)
    return stored
  }

  /**
   * A slab lives as long as one document in it, so documents that stay among many that change could hold any
   * amount of memory. When more is dead than alive, everything alive moves to new slabs.
   * @param dataSizeBytes of what is alive
   * @returns whether it has
   */
  compactIfWorthwhile(dataSizeBytes: number): boolean {
    if (this.#arena.slabbedBytes < tolerableGarbageBytes + 2 * dataSizeBytes) return false
    this.#arena = new Arena()
    const scan = this.#records.clone().scan()
    for (let record = scan.next(); record !== null; record = scan.next()) this.put(record.recordId, record.document)
    return true
  }
}
