/**
 * The memory of the requests that the clients of a port send or wait for. Small requests are not
 * counted, so that clients can end cursors and read the state of a server that is full.
 */
export class RequestMemory {
  readonly bytesMax: number
  readonly #onLimit: () => void
  #usedBytes = 0
  #isReached = false

  /**
   * @param onLimit called for the first request that is refused since another one was answered: any
   *   client can send requests that are refused
   */
  constructor(bytesMax: number, onLimit: () => void) {
    this.bytesMax = bytesMax
    this.#onLimit = onLimit
  }

  static isCounted(lengthBytes: number): boolean {
    return lengthBytes > uncountedBytes
  }

  /**
   * @param heldBytes reserved before for the same request; released if it is refused
   * @returns false: the limit is reached
   */
  reserve(lengthBytes: number, heldBytes: number): boolean {
    if (this.#usedBytes + lengthBytes > this.bytesMax) {
      this.#usedBytes -= heldBytes
      if (!this.#isReached) this.#onLimit()
      this.#isReached = true
      return false
    }
    this.#usedBytes += lengthBytes
    return true
  }

  release(lengthBytes: number): void {
    this.#usedBytes -= lengthBytes
    this.#isReached = false
  }
}

const uncountedBytes = 1024
