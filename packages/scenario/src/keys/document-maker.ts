import type { Random } from '@shardlab/actor'
import { Binary, encode, type Document } from '@shardlab/bson'
import { reservedFields, type CollectionSource } from '../file/schema.js'
import type { Keys, Progress } from './keys.js'
import { scatter32 } from './scatter.js'

/** `findOther` queries it: indexed, and not part of the shard key. */
export const [otherField, padField] = reservedFields as [string, string]
/** Different values of {@link otherField}. */
export const otherValues = 997

export class DocumentMaker {
  readonly #fields: readonly string[]
  readonly #random: Random
  readonly #paddings = new Map<number, Binary>()
  #documents = 0
  #nextKey = 0

  constructor({ key }: Pick<CollectionSource, 'key'>, random: Random) {
    this.#fields = Object.keys(key)
    this.#random = random
  }

  get progress(): Progress {
    return { documents: this.#documents, nextKey: this.#nextKey }
  }

  /**
   * The distribution determines the key's first field; further fields and `_id` are the document's
   * number.
   * @param bytes without padding if the fields take more
   */
  make(keys: Keys, bytes: number): Uint8Array {
    const value = keys.ofDocument(this.#random.fraction(), this.progress)
    const n = this.#documents++
    this.#nextKey = Math.max(this.#nextKey + (keys.isMonotonic ? 1 : 0), keys.below)
    const document: Document = { _id: this.#fields[0] === '_id' ? value : n }
    this.#fields.forEach((field, i) => {
      if (field !== '_id') document[field] = i === 0 ? value : n
    })
    if (!(otherField in document)) document[otherField] = scatter32(n) % otherValues
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
