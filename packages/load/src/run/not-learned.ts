/** What a server did not tell: a report names it instead of showing nothing. */
import { messageOf } from '../option-error.js'

export class NotLearned {
  readonly #sentences = new Set<string>()

  /** In the order in which they were found; each once. */
  get sentences(): readonly string[] {
    return [...this.#sentences]
  }

  /**
   * @param what is missing from the report
   * @param why the server's error, or a reason in words
   */
  add(what: string, why: unknown): void {
    this.#sentences.add(`${what}: ${messageOf(why)}`)
  }
}
