/**
 * The path and the value of each leaf. An array gives a key for each element and adds nothing to
 * the path. Arrays inside arrays, empty documents and empty arrays (as undefined) are leaves.
 * Server: wildcard_key_generator.cpp.
 */
import { BsonType, encodeKeyString, FieldIterator, stringValue, undefinedValue, type RawValue } from '@shardlab/bson'
import { labelled } from '../collation/labelled.js'
import type { StringLabels } from '../collation/string-labels.js'
import type { DocumentKeys, IndexKeyGenerator, KeyTuple } from '../indexes/index-keys.js'
import type { WildcardPaths } from './wildcard-spec.js'

const emptyBytes = 5

export class WildcardKeyGenerator implements IndexKeyGenerator {
  readonly #paths: WildcardPaths
  readonly #descending: readonly boolean[]

  readonly #labels: StringLabels | null

  constructor(paths: WildcardPaths, labels: StringLabels | null = null) {
    this.#paths = paths
    this.#labels = labels
    this.#descending = [false, paths.direction === -1]
  }

  encode(tuple: KeyTuple): string {
    const [path, value] = tuple
    const labels = this.#labels
    return encodeKeyString(labels === null ? tuple : [path, labelled(value!, labels)], this.#descending)
  }

  generate(bytes: Uint8Array, start = 0): DocumentKeys {
    const arrayPaths = new Set<string>()
    const keys = new Set<string>()
    for (const tuple of this.tuplesOf(bytes, arrayPaths, start)) keys.add(this.encode(tuple))
    return { keys: [...keys], arrays: null, ...(arrayPaths.size > 0 ? { arrayPaths } : {}) }
  }

  isUnchanged(): boolean {
    return false
  }

  needsCheck(): boolean {
    return true
  }

  /**
   * Includes repeated tuples.
   * @param arrayPaths receives the paths of arrays
   */
  tuplesOf(bytes: Uint8Array, arrayPaths?: Set<string>, start = 0): KeyTuple[] {
    const tuples: KeyTuple[] = []
    this.#walk(bytes, start, '', false, tuples, arrayPaths)
    return tuples
  }

  #walk(
    bytes: Uint8Array,
    start: number,
    prefix: string,
    inArray: boolean,
    tuples: KeyTuple[],
    arrayPaths: Set<string> | undefined,
  ): void {
    for (const it = new FieldIterator(bytes, start); it.next();) {
      const name = it.name()
      // Queries cannot name a field that contains a dot.
      if (!inArray && name.includes('.')) continue
      const path = inArray ? prefix : prefix === '' ? name : `${prefix}.${name}`
      if (!inArray && !this.#paths.reaches(path)) continue
      this.#add(it.value(), path, inArray, tuples, arrayPaths)
    }
  }

  #add(value: RawValue, path: string, inArray: boolean, tuples: KeyTuple[], arrayPaths: Set<string> | undefined): void {
    const held = this.#paths.holds(path)
    const isArray = value.type === BsonType.array
    if (value.type === BsonType.object || (isArray && !inArray)) {
      if (isArray) arrayPaths?.add(path)
      if (value.end - value.start > emptyBytes) this.#walk(value.bytes, value.start, path, isArray, tuples, arrayPaths)
      else if (held) tuples.push([stringValue(path), isArray ? undefinedValue : value])
    } else if (held) tuples.push([stringValue(path), value])
  }
}
