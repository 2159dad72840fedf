import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'

/** Documents that have come in one message and that nobody has taken yet. */
export class DocumentBatch {
  #unread: FieldIterator | null = null
  #head: Uint8Array | null = null

  /** The next document, which stays; null: there is none. */
  get head(): Uint8Array | null {
    return this.#head
  }

  advance(): void {
    const it = this.#unread!
    if (it.next()) this.#head = it.bytes.subarray(it.valueStart, it.valueEnd)
    else {
      this.#head = null
      this.#unread = null
    }
  }

  /** Goes on with an array of documents. */
  load(batch: RawValue): void {
    this.#unread = new FieldIterator(batch.bytes, batch.start)
    this.advance()
  }

  /** Copies what is unread, so that the message it came in can go. */
  detach(): void {
    if (this.#head === null) return
    const writer = new DocumentWriter(1024)
    let count = 0
    for (; this.#head !== null; this.advance()) writer.document(String(count++), this.#head)
    this.#unread = new FieldIterator(writer.finish())
    this.advance()
  }
}
