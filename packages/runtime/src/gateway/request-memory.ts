/**
 * The memory of the requests that the clients of a port send or wait for. Small requests are not
 * counted, so that clients can end cursors and read the state of a server that is full.
 */
export class RequestMemory {
  readonly bytesMax: number
  readonly #onLimit: () => void
  #usedBytes = 0

  constructor(bytesMax: number, onLimit: () => void) {
    this.bytesMax = bytesMax
    this.#onLimit = onLimit
  }

  static isCounted(lengthBytes: number): boolean {
    return lengthBytes > uncountedBytes
  }

  /** @returns false: the limit is reached */
  reserve(lengthBytes: number): boolean {
    if (this.#usedBytes + lengthBytes > this.bytesMax) {
      this.#onLimit()
      return false
    }
    this.#usedBytes += lengthBytes
    return true
  }

  release(lengthBytes: number): void {
    this.#usedBytes -= lengthBytes
  }
}

const uncountedBytes = 1024
