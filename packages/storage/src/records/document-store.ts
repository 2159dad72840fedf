/**
 * Stores the documents of a collection in the slabs of an {@link Arena} and their positions in its
 * records.
 */
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

  /** Stores a copy of the document under this id and replaces the previous one. */
  put(recordId: number, document: Uint8Array): void {
    const start = this.#arena.store(document, this.#records.count * document.length)
    if (start >= 0) this.#records.setInSlab(recordId, this.#arena.slab, start)
    else {
      const ownBuffer = Buffer.allocUnsafeSlow(document.length)
      ownBuffer.set(document)
      this.#records.set(recordId, ownBuffer)
    }
  }

  /**
   * Moves all live documents to new slabs once more bytes are dead than alive. A slab lives as long
   * as one document in it, so a few documents that stay among many that change could otherwise keep
   * any amount of memory.
   * @param dataSizeBytes size of all live documents
   */
  compactIfWorthwhile(dataSizeBytes: number): void {
    if (this.#arena.slabbedBytes < tolerableGarbageBytes + 2 * dataSizeBytes) return
    this.#arena = new Arena()
    const scan = this.#records.takeAll().scan()
    for (let record = scan.next(); record !== null; record = scan.next()) this.put(record.recordId, record.document)
  }
}
