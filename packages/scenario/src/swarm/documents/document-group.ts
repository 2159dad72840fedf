import type { Document } from '@shardlab/bson'
import { finding, type Finding } from '../finding.js'

const size = 6
/** A failed multi-document update may have reached a document this often. */
const attemptsMax = 4

/** One client's documents in a collection that only multi-document writes touch. */
export class DocumentGroup {
  readonly #owner: number
  readonly #ns: string
  #least = 0
  #most = 0

  constructor(owner: number, ns: string) {
    this.#owner = owner
    this.#ns = ns
  }

  /** To insert once. The field is named `herd`, which earlier journals show. */
  documents(fresh: () => Document): Document[] {
    return Array.from({ length: size }, (_, i) => ({
      ...fresh(),
      owner: 0,
      herd: this.#owner,
      _id: `herd ${this.#owner} ${i}`,
      m: 0,
    }))
  }

  increment(): Document {
    return { q: { herd: this.#owner }, u: { $inc: { m: 1 } }, multi: true }
  }

  /** @param most null: unknown */
  incremented(least: number, most: number | null): void {
    this.#least += least
    this.#most += most ?? size * attemptsMax
  }

  differences(documents: readonly Document[], where: string): Finding[] {
    const own = documents.filter((document) => document['herd'] === this.#owner)
    const sum = own.reduce((total, { m }) => total + (m as number), 0)
    const ids = new Set(own.map(({ _id }) => _id as string))
    if (own.length !== size || ids.size !== size)
      return this.#wrong(
        `${where}: ${this.#ns} holds ${own.length} documents of group ${this.#owner} with ${ids.size} different _ids`,
      )
    if (sum < this.#least || sum > this.#most)
      return this.#wrong(
        `${where}: group ${this.#owner} of ${this.#ns} was incremented ${sum} times, not ${this.#least} to ${this.#most}`,
      )
    return []
  }

  #wrong(sentence: string): Finding[] {
    return [finding(sentence, `app.${this.#ns}`)]
  }
}
