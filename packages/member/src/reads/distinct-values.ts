/** Server: distinct.cpp. */
import {
  CommandError,
  compareValues,
  encodeKeyString,
  type RawValue,
  type StringComparator,
  DocumentWriter,
} from '@shardlab/bson'

/** 16 MiB less the rest of the reply. */
const valuesBytesMax = 16 * 1024 * 1024 - 4096

/** Sorted, without duplicates under the collation; of equal values the first is kept. */
export class DistinctValues {
  readonly #byKey = new Map<string, RawValue>()
  readonly #strings: StringComparator | undefined
  #bytes = 0

  constructor(strings: StringComparator | undefined) {
    this.#strings = strings
  }

  /** @throws CommandError 17217 when they exceed the limit */
  add(value: RawValue): void {
    const key = encodeKeyString([value], [false])
    if (this.#byKey.has(key)) return
    this.#byKey.set(key, value)
    this.#bytes += value.end - value.start + 2
    if (this.#bytes >= valuesBytesMax) throw new CommandError(17217, 'distinct too big, 16mb cap')
  }

  sorted(): RawValue[] {
    const strings = this.#strings
    if (strings === undefined) {
      return [...this.#byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
    }
    const values = [...this.#byKey.values()].sort((a, b) => compareValues(a, b, strings))
    return values.filter((value, i) => i === 0 || compareValues(value, values[i - 1], strings) !== 0)
  }
}

export function writeValues(values: readonly RawValue[]): DocumentWriter {
  const writer = new DocumentWriter(1024).startArray('values')
  values.forEach((value, i) => writer.value(String(i), value))
  return writer.end()
}
