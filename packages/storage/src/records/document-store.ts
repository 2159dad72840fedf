import { Arena } from './arena.js'
import { mappedBuffer } from './mapped-buffer.js'
import type { RecordTable } from './record-table.js'

/** Dead bytes in slabs that never cause a rewrite of the collection. */
const tolerableGarbageBytes = 8 * 1024 * 1024

const mappedBytesMin = 1024 * 1024

export class DocumentStore {
  readonly #records: RecordTable
  #arena = new Arena()
  #moves = 0

  constructor(records: RecordTable) {
    this.#records = records
  }

  /** How often {@link compactIfWorthwhile} has moved all documents. */
  get moves(): number {
    return this.#moves
  }

  put(recordId: number, document: Uint8Array): void {
    const start = this.#arena.store(document, this.#records.count * document.length)
    if (start >= 0) this.#records.setInSlab(recordId, this.#arena.slab, start)
    else {
      const length = document.length
      const ownBuffer = length < mappedBytesMin ? Buffer.allocUnsafeSlow(length) : mappedBuffer(length)
      ownBuffer.set(document)
      this.#records.set(recordId, ownBuffer)
    }
  }

  /**
   * Moves all documents to new slabs once more bytes are dead than alive. One document keeps its
   * whole slab alive, so without this a few unchanged documents could keep any amount of memory.
   * @param dataSizeBytes size of all live documents
   */
  compactIfWorthwhile(dataSizeBytes: number): void {
    if (this.#arena.slabbedBytes < tolerableGarbageBytes + 2 * dataSizeBytes) return
    this.#moves++
    this.#arena = new Arena()
    const scan = this.#records.takeAll().scan()
    for (let record = scan.next(); record !== null; record = scan.next()) this.put(record.recordId, record.document)
  }
}
