/** Merges by sort key or in the order of arrival. Server: async_results_merger.cpp. */
import type { RawValue } from '@shardlab/bson'

/** A KeyString, or the values themselves under a collation. */
export type MergeKey = string | readonly (RawValue | undefined)[]

export interface MergeOrder {
  /** The key may refer to the bytes of the document. */
  keyOf(document: Uint8Array): MergeKey
  isBefore(a: MergeKey, b: MergeKey): boolean
  /** Removes the field that the shard added for merging. */
  strip(document: Uint8Array): Uint8Array
}

export interface MergeInput {
  /** Stays until `advance`; null: none has arrived */
  readonly head: Uint8Array | null
  /** The stream has ended and its documents are taken. */
  readonly exhausted: boolean
  advance(): void
}

export class InputMerger<Input extends MergeInput> {
  readonly inputs: readonly Input[]
  readonly #order: MergeOrder | null
  /** Of the head of each input; undefined: not computed yet */
  readonly #keys: (MergeKey | undefined)[]
  /** Without an order: the input that is read. */
  #current = 0

  /** @param order null: the inputs have no order */
  constructor(inputs: readonly Input[], order: MergeOrder | null) {
    this.inputs = inputs
    this.#order = order
    this.#keys = inputs.map(() => undefined)
  }

  get done(): boolean {
    return this.inputs.every((input) => input.exhausted)
  }

  /** Inputs without a document that have not ended. */
  dry(): Input[] {
    return this.inputs.filter((input) => input.head === null && !input.exhausted)
  }

  /** null: an input must be filled first, or all have ended */
  take(): Uint8Array | null {
    return this.#order === null ? this.#takeAny() : this.#takeLowest(this.#order)
  }

  /** Called after the bytes of the heads have moved. */
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
        // The next document of this input may sort before all others.
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

/**
 * Returns the failure or null. Used to await all inputs although one has failed: an open cursor
 * must not be lost.
 */
export async function failureOf(filling: Promise<void>): Promise<{ readonly error: unknown } | null> {
  try {
    await filling
    return null
  } catch (error) {
    return { error }
  }
}
