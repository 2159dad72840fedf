/** The last lines that a member has logged, for getLog. Server: logv2/ramlog.cpp. */

const linesMax = 1024
/** Milliseconds from which an operation is slow: slowOpThresholdMs. */
const slowOperationMs = 100

export class LogBuffer {
  /** Which operations are written: those that took as long, and of them this part. */
  readonly slow = { thresholdMs: slowOperationMs, sampleRate: 1 }
  readonly #lines: string[] = []
  readonly #fraction: () => number
  #total = 0

  /** `fraction` draws what decides which of the slow operations are written. */
  constructor(fraction: () => number) {
    this.#fraction = fraction
  }

  /** Is a line to be written of an operation that took so long? */
  wantsSlow(durationMs: number): boolean {
    return (
      durationMs >= this.slow.thresholdMs && (this.slow.sampleRate === 1 || this.#fraction() < this.slow.sampleRate)
    )
  }

  /** Lines since the member began. */
  get total(): number {
    return this.#total
  }

  /** The oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** Takes in one line of the server's format: a JSON document. */
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
