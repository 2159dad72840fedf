/** The report names information that a server did not provide, instead of showing nothing. */
import { messageOf } from '../option-error.js'

export class NotLearned {
  readonly #sentences = new Set<string>()

  /** In order of discovery, without repetition. */
  get sentences(): readonly string[] {
    return [...this.#sentences]
  }

  /**
   * @param what the missing information
   * @param why the server's error, or a reason
   */
  add(what: string, why: unknown): void {
    this.#sentences.add(`${what}: ${messageOf(why)}`)
  }
}
