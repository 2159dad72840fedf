/** Limits the bytes that are under way to the server, or from it. */

/**
 * On a link of 30 KB a second, the last of so many bytes arrives before the client gives up its
 * answer, which is after five seconds, and before the lease of a job ends.
 */
const windowBytes = 128 * 1024

/**
 * Without it, all parts of a large result would be in the client's buffer at once. On a slow link
 * signs of life would wait behind them until the server gave the job to another worker, and the
 * answers would come so late that each part would be sent again and again.
 */
export class ByteWindow {
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = []
  #bytes = 0

  /** Calls run in their order. One that exceeds the window runs alone. */
  async during<Result>(bytes: number, call: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length === 0 && this.#fits(bytes)) this.#bytes += bytes
    else await new Promise<void>((resolve) => this.#waiting.push({ bytes, enter: resolve }))
    try {
      return await call()
    } finally {
      this.#leave(bytes)
    }
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= windowBytes
  }

  #leave(bytes: number): void {
    this.#bytes -= bytes
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes)) {
      const { bytes: entering, enter } = this.#waiting.shift()!
      this.#bytes += entering
      enter()
    }
  }
}
