import type { Random } from '@shardlab/actor'
import { Binary, encode, type Document } from '@shardlab/bson'
import type { Keys, Progress } from './keys.js'

const padField = 'pad'

export class DocumentMaker {
  readonly #random: Random
  readonly #paddings = new Map<number, Binary>()
  /** By field: its next monotonic value. */
  readonly #nextKeys = new Map<string, number>()
  #documents = 0

  constructor(random: Random) {
    this.#random = random
  }

  progressOf(field: string): Progress {
    return { documents: this.#documents, nextKey: this.#nextKeys.get(field) ?? 0 }
  }

  /**
   * A document without a field \`_id\` gets its number as \`_id\`.
   * @param bytes without padding if the fields take more
   */
  make(fields: ReadonlyMap<string, Keys>, bytes: number): Uint8Array {
    const document: Document = { _id: this.#documents }
    for (const [name, keys] of fields) {
      const progress = this.progressOf(name)
      document[name] = keys.ofDocument(this.#random.fraction(), progress)
      this.#nextKeys.set(name, Math.max(progress.nextKey + (keys.isMonotonic ? 1 : 0), keys.below))
    }
    this.#documents++
    document[padField] = this.#padding(0)
    document[padField] = this.#padding(bytes - encode(document).length)
    return encode(document)
  }

  #padding(bytes: number): Binary {
    let padding = this.#paddings.get(bytes)
    if (padding === undefined) this.#paddings.set(bytes, (padding = new Binary(Buffer.alloc(Math.max(0, bytes)))))
    return padding
  }
}
