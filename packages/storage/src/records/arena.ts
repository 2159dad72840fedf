import { mappedBuffer } from './mapped-buffer.js'

/**
 * Memory for documents. Small ones share a slab, because a buffer per document costs more than the
 * document. Documents are copied: a view would keep its whole packet or socket chunk alive.
 */
const slabSizeBytes = 256 * 1024
const slabSizeBytesMin = 4096
/**
 * Full slabs of smaller collections are mapped: such collections come and go. Fresh memory costs
 * time, so the slabs of larger ones come from the C library, which may have used them before.
 */
const largeCollectionBytes = 8 * 1024 * 1024
/** Larger documents get their own buffer, because they would waste the rest of a slab. */
const largeDocumentBytes = 32 * 1024

const noSlab = Buffer.alloc(0)

export class Arena {
  #slab: Buffer = noSlab
  #used = 0
  #slabbedBytes = 0

  get slab(): Buffer {
    return this.#slab
  }

  /** Bytes ever allocated; freed documents are not subtracted. */
  get slabbedBytes(): number {
    return this.#slabbedBytes
  }

  /**
   * @param aliveBytes approximate size of the documents in use: no slab is larger than that, so
   *   that a small collection does not hold a full slab
   * @returns where in the {@link slab} the copy begins; -1: the document is too large for a slab
   */
  store(document: Uint8Array, aliveBytes: number): number {
    const length = document.length
    if (length >= largeDocumentBytes) return -1
    if (this.#used + length > this.#slab.length) {
      const sizeBytes = Math.min(
        slabSizeBytes,
        Math.max(slabSizeBytesMin, Math.min(this.#slab.length * 2, aliveBytes), length),
      )
      const isMapped = sizeBytes === slabSizeBytes && aliveBytes < largeCollectionBytes
      this.#slab = isMapped ? mappedBuffer(sizeBytes) : Buffer.allocUnsafeSlow(sizeBytes)
      this.#used = 0
    }
    const start = this.#used
    this.#slab.set(document, start)
    this.#used = start + length
    this.#slabbedBytes += length
    return start
  }
}
