/** For getLog. Server: logv2/ramlog.cpp. */

const linesMax = 1024
/** Default of slowOpThresholdMs. */
const slowOperationMs = 100

export class LogBuffer {
  /** Operations that are logged: slower than the threshold, and of those the given fraction. */
  readonly slow = { thresholdMs: slowOperationMs, sampleRate: 1 }
  readonly #lines: string[] = []
  readonly #fraction: () => number
  #total = 0

  /** @param fraction random numbers from 0 to 1 for sampling slow operations */
  constructor(fraction: () => number) {
    this.#fraction = fraction
  }

  wantsSlow(durationMs: number): boolean {
    return (
      durationMs >= this.slow.thresholdMs && (this.slow.sampleRate === 1 || this.#fraction() < this.slow.sampleRate)
    )
  }

  get total(): number {
    return this.#total
  }

  /** Oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** In the format of the server, a JSON document. */
  add(
    atMs: number,
    severity: 'I' | 'W' | 'E',
    component: string,
    id: number,
    context: string,
    message: string,
    attributes: object = {},
  ): void {
    this.#total++
    if (this.#lines.length === linesMax) this.#lines.shift()
    this.#lines.push(
      JSON.stringify({
        t: { $date: new Date(atMs).toISOString().replace('Z', '+00:00') },
        s: severity,
        c: component,
        id,
        ctx: context,
        msg: message,
        ...(Object.keys(attributes).length === 0 ? {} : { attr: attributes }),
      }),
    )
  }
}
