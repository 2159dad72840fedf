/** Where the documents of a collection lie: in the slabs of an {@link Arena}, which its records name. */
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

  /** Stores a copy of the document under this id, in the place of the one that was there. */
  put(recordId: number, document: Uint8Array): void {
    const start = this.#arena.store(document, this.#records.count * document.length)
    if (start >= 0) this.#records.place(recordId, this.#arena.slab, start)
    else {
      const alone = Buffer.allocUnsafeSlow(document.length)
      alone.set(document)
      this.#records.set(recordId, alone)
    }
  }

  /**
   * A slab lives as long as one document in it, so documents that stay among many that change could hold any
   * amount of memory. When more is dead than alive, everything alive moves to new slabs.
   * @param dataSizeBytes of what is alive
   */
  compactIfWorthwhile(dataSizeBytes: number): void {
    if (this.#arena.slabbedBytes < tolerableGarbageBytes + 2 * dataSizeBytes) return
    this.#arena = new Arena()
    const scan = this.#records.takeAll().scan()
    for (let record = scan.next(); record !== null; record = scan.next()) this.put(record.recordId, record.document)
  }
}
