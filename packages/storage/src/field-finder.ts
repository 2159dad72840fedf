/** The values of several top-level fields, found in one go through a document: an index of many fields would begin anew for each of them. */
import { FieldIterator, type RawValue } from '@shardlab/bson'

export class FieldFinder {
  readonly #names: readonly Uint8Array[]

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(name))
  }

  /**
   * @param found gets the value of each field, `undefined` where there is none; of fields of one name the first counts
   * @returns how many are missing
   */
  find(document: Uint8Array, found: (RawValue | undefined)[]): number {
    const names = this.#names
    let missing = names.length
    for (let i = 0; i < names.length; i++) found[i] = undefined
    for (const it = new FieldIterator(document); missing > 0 && it.next();) {
      const length = it.valueStart - 1 - it.nameStart
      for (let i = 0; i < names.length; i++) {
        if (names[i]!.length !== length || found[i] !== undefined || !isAt(names[i]!, document, it.nameStart)) continue
        found[i] = it.value()
        missing--
      }
    }
    return missing
  }
}

function isAt(name: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false
  return true
}
