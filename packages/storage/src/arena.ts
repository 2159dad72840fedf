/**
 * Where documents lie: many small ones share a slab, so that each costs a place in it instead of a buffer of its own.
 * What comes in is copied: a view would keep the whole packet or socket chunk alive.
 */
const slabSizeBytes = 256 * 1024
const slabSizeBytesMin = 4096
/** Larger documents are to have a buffer of their own: they would waste the rest of a slab. */
const aloneFromBytes = 32 * 1024

const noSlab = Buffer.alloc(0)

export class Arena {
  #slab: Buffer = noSlab
  #used = 0
  #slabbedBytes = 0

  /** Where the document lies that was stored last. */
  get slab(): Buffer {
    return this.#slab
  }

  /** Bytes handed out in slabs since the arena was made; freed documents are not subtracted. */
  get slabbedBytes(): number {
    return this.#slabbedBytes
  }

  /**
   * Copies the document.
   * @param aliveBytes about what there is of documents that are kept: what comes and goes must not hold much more than that
   * @returns where in the {@link slab} the copy begins; -1: it is too large for one
   */
  store(document: Uint8Array, aliveBytes: number): number {
    const length = document.length
    if (length >= aloneFromBytes) return -1
    if (this.#used + length > this.#slab.length) {
      // A collection of few documents must not cost a full slab.
      const sizeBytes = Math.min(
        slabSizeBytes,
        Math.max(slabSizeBytesMin, Math.min(this.#slab.length * 2, aliveBytes), length),
      )
      this.#slab = Buffer.allocUnsafeSlow(sizeBytes)
      this.#used = 0
    }
    const start = this.#used
    this.#slab.set(document, start)
    this.#used = start + length
    this.#slabbedBytes += length
    return start
  }
}
