import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'

/** Unread documents of one message. */
export class DocumentBatch {
  #unread: FieldIterator | null = null
  #head: Uint8Array | null = null

  /** Stays in the batch; null: the batch is empty */
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

  load(batch: RawValue): void {
    this.#unread = new FieldIterator(batch.bytes, batch.start)
    this.advance()
  }

  /** Copies the unread documents, so that the memory of the message can be freed. */
  detach(): void {
    if (this.#head === null) return
    const writer = new DocumentWriter(1024)
    let count = 0
    for (; this.#head !== null; this.advance()) writer.document(String(count++), this.#head)
    // The writer's buffer is up to twice as large.
    this.#unread = new FieldIterator(new Uint8Array(writer.finish()))
    this.advance()
  }
}
