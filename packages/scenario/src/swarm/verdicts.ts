import { finding, type Finding } from './finding.js'
import type { CheckerName, Violation } from './types.js'

/** Further violations add nothing. */
const violationsMax = 20

export class Verdicts {
  readonly #violations: Violation[] = []
  readonly #onFirst: (violation: Violation) => void

  constructor(onFirst: (violation: Violation) => void) {
    this.#onFirst = onFirst
  }

  get violations(): readonly Violation[] {
    return this.#violations
  }

  get hasFailed(): boolean {
    return this.#violations.length > 0
  }

  violated(checker: CheckerName, ...findings: readonly Finding[]): void {
    for (const found of findings) {
      const violation = { checker, ...found }
      if (!this.hasFailed) this.#onFirst(violation)
      if (this.#violations.length < violationsMax) this.#violations.push(violation)
    }
  }

  /** A violation that concerns no collection. */
  failed(checker: CheckerName, sentence: string): void {
    this.violated(checker, finding(sentence, null))
  }
}
