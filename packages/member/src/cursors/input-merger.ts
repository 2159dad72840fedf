/** Merges streams of documents: by sort key, or as the documents come. Server: async_results_merger.cpp. */
import type { RawValue } from '@shardlab/bson'

/** The place of a document in an order: a KeyString, or the values themselves where a collation decides. */
export type MergeKey = string | readonly (RawValue | undefined)[]

/** How the streams are ordered. */
export interface MergeOrder {
  /** The place of a document; it may lie in the document's bytes. */
  keyOf(document: Uint8Array): MergeKey
  /** Of two keys of this order. */
  isBefore(a: MergeKey, b: MergeKey): boolean
  /** The document without what the shard added for merging. */
  strip(document: Uint8Array): Uint8Array
}

/** One of the streams. */
export interface MergeInput {
  /** The next document, which stays; null: none is here. */
  readonly head: Uint8Array | null
  /** None is here, and none comes any more. */
  readonly exhausted: boolean
  advance(): void
}

export class InputMerger<Input extends MergeInput> {
  readonly inputs: readonly Input[]
  readonly #order: MergeOrder | null
  /** Sort key of each input's head; undefined: not computed yet. */
  readonly #keys: (MergeKey | undefined)[]
  /** Without an order: the input that is being emptied. */
  #current = 0

  /** `order` null: the inputs have none. */
  constructor(inputs: readonly Input[], order: MergeOrder | null) {
    this.inputs = inputs
    this.#order = order
    this.#keys = inputs.map(() => undefined)
  }

  get done(): boolean {
    return this.inputs.every((input) => input.exhausted)
  }

  /** The inputs that have run dry and may have more. */
  dry(): Input[] {
    return this.inputs.filter((input) => input.head === null && !input.exhausted)
  }

  /** The next document that can be told to be the next; null: none can, or all have been taken. */
  take(): Uint8Array | null {
    return this.#order === null ? this.#takeAny() : this.#takeLowest(this.#order)
  }

  /** The bytes that the heads lie in have changed. */
  forgetKeys(): void {
    this.#keys.fill(undefined)
  }

  #takeAny(): Uint8Array | null {
    const count = this.inputs.length
    for (let tried = 0; tried < count; tried++) {
      const input = this.inputs[this.#current]!
      const document = input.head
      if (document !== null) {
        input.advance()
        return document
      }
      this.#current = (this.#current + 1) % count
    }
    return null
  }

  #takeLowest(order: MergeOrder): Uint8Array | null {
    let lowest = -1
    let lowestKey: MergeKey = ''
    for (let i = 0; i < this.inputs.length; i++) {
      const input = this.inputs[i]!
      const document = input.head
      if (document === null) {
        // What this one gives next may come before all that is here.
        if (!input.exhausted) return null
        continue
      }
      const key = (this.#keys[i] ??= order.keyOf(document))
      if (lowest < 0 || order.isBefore(key, lowestKey)) {
        lowest = i
        lowestKey = key
      }
    }
    if (lowest < 0) return null
    const input = this.inputs[lowest]!
    const document = order.strip(input.head!)
    input.advance()
    this.#keys[lowest] = undefined
    return document
  }
}

/** Waits for all, also after a failure: what is still open must be known to be closed. @returns each failure, or null */
export async function failureOf(filling: Promise<void>): Promise<{ readonly error: unknown } | null> {
  try {
    await filling
    return null
  } catch (error) {
    return { error }
  }
}
