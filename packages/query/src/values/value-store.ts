import type { RawValue } from '@shardlab/bson'

/** What accumulators keep. Values are never removed: the store is dropped with its owner. */
export interface ValueStore {
  /** @returns its address */
  add(value: RawValue): number
  /** As {@link add}; {@link from} finds the value behind the one before it. */
  addAfter(previous: number, value: RawValue): number
  /** @returns its address, which may be the same */
  replace(address: number, value: RawValue): number
  /** Without a copy; may change with {@link replace}. */
  at(address: number): RawValue
  /** The value and those that were added after it. */
  from(address: number): Iterable<RawValue>
}

/** For few values, or for those whose documents are held anyway. */
export class ValueList implements ValueStore {
  readonly #values: RawValue[] = []
  /** By address: that of the next value. */
  readonly #next: number[] = []

  add(value: RawValue): number {
    return this.#values.push(value) - 1
  }

  addAfter(previous: number, value: RawValue): number {
    return (this.#next[previous] = this.add(value))
  }

  replace(address: number, value: RawValue): number {
    this.#values[address] = value
    return address
  }

  at(address: number): RawValue {
    return this.#values[address]!
  }

  *from(address: number): Generator<RawValue, void> {
    for (let at: number | undefined = address; at !== undefined; at = this.#next[at]) yield this.#values[at]!
  }
}
