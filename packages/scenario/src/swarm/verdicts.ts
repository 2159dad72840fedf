import type { CheckerName, Violation } from './types.js'

/** Events kept before the first violation. */
const linesMax = 100
/** Further violations add nothing. */
const violationsMax = 20

export class Verdicts {
  readonly #now: () => number
  readonly #beginMs: number
  readonly #lines: string[] = []
  readonly #violations: Violation[] = []

  /** @param now virtual milliseconds */
  constructor(now: () => number) {
    this.#now = now
    this.#beginMs = now()
  }

  get violations(): readonly Violation[] {
    return this.#violations
  }

  get journal(): readonly string[] {
    return this.#violations.length === 0 ? [] : this.#lines
  }

  get hasFailed(): boolean {
    return this.#violations.length > 0
  }

  note(line: string): void {
    if (this.hasFailed) return
    this.#lines.push(`${String(Math.round(this.#now() - this.#beginMs)).padStart(8)} ms  ${line}`)
    if (this.#lines.length > linesMax) this.#lines.shift()
  }

  violated(checker: CheckerName, ...sentences: readonly string[]): void {
    for (const sentence of sentences) {
      this.note(`${checker}: ${sentence}`)
      if (this.#violations.length < violationsMax) this.#violations.push({ checker, sentence })
    }
  }

  must(holds: boolean, checker: CheckerName, sentence: () => string): void {
    if (!holds) this.violated(checker, sentence())
  }
}
