/**
 * An array on a path gives one key for each of its elements. All fields of a compound index that
 * enter an array must enter the same one. Server: btree_key_generator.cpp,
 * expression_keys_private.cpp (hashed). Manual page: indexes/index-types/index-multikey.
 */
import {
  BsonType,
  CommandError,
  elementsOf,
  encodeKeyString,
  FieldFinder,
  findField,
  hashedKeyValue,
  undefinedValue,
  type RawValue,
} from '@shardlab/bson'
import { formatValue, type KeyPattern } from '@shardlab/query'
import { labelled } from '../collation/labelled.js'
import type { StringLabels } from '../collation/string-labels.js'

/** In the order of the pattern; undefined: missing field. */
export type KeyTuple = (RawValue | undefined)[]

/** By field of the pattern: the numbers of the path components that were arrays. */
export type MultikeyPaths = readonly ReadonlySet<number>[]

export interface DocumentKeys {
  /**
   * Distinct and ascending: the server reports the first of several duplicates. Unordered for a
   * wildcard index.
   */
  readonly keys: readonly string[]
  /** Null: no array on any path, the usual case. */
  readonly arrays: MultikeyPaths | null
  readonly arrayPaths?: ReadonlySet<string>
}

export interface IndexKeyGenerator {
  encode(tuple: KeyTuple): string
  generate(bytes: Uint8Array, start?: number): DocumentKeys
  /**
   * Whether the keys must be generated at once, because that could fail, find arrays or need a new
   * label. If not, the document has one key.
   */
  needsCheck(bytes: Uint8Array, start?: number): boolean
  /** Whether two documents certainly have the same keys; does not generate them. */
  isUnchanged(previous: Uint8Array, document: Uint8Array): boolean
  tuplesOf(document: Uint8Array): KeyTuple[]
}

const noKeys: DocumentKeys = { keys: [], arrays: null }

interface Field {
  readonly path: string
  readonly parts: readonly string[]
  readonly hashed: boolean
}

interface Walk {
  /** `parts.length` once the value is found. */
  at: number
  value: RawValue | undefined
}

/** An array element selected by a numeric path component, as in `a.0`. */
interface Selected {
  readonly array: RawValue
  readonly elementIsArray: boolean
  readonly value: RawValue | undefined
  readonly at: number
}

export class KeyGenerator implements IndexKeyGenerator {
  readonly #fields: readonly Field[]
  readonly #descending: readonly boolean[] | undefined
  readonly #sparse: boolean
  readonly #hashed: boolean
  readonly #labels: StringLabels | null
  /** Null: one field, or a field that is not top-level. */
  readonly #finder: FieldFinder | null
  #stoppedAt = 0

  constructor(pattern: KeyPattern, sparse: boolean, labels: StringLabels | null = null) {
    this.#labels = labels
    this.#fields = pattern.map(({ path, direction }) => ({
      path,
      parts: path.split('.'),
      hashed: direction === 'hashed',
    }))
    this.#descending = pattern.some(({ direction }) => direction === -1)
      ? pattern.map(({ direction }) => direction === -1)
      : undefined
    this.#sparse = sparse
    this.#hashed = pattern.some(({ direction }) => direction === 'hashed')
    const isPlain = pattern.length > 1 && this.#fields.every(({ parts }) => parts.length === 1)
    this.#finder = isPlain ? new FieldFinder(pattern.map(({ path }) => path)) : null
  }

  encode(tuple: KeyTuple): string {
    const labels = this.#labels
    const values =
      labels === null ? tuple : tuple.map((value) => (value === undefined ? undefined : labelled(value, labels)))
    return this.#descending === undefined ? encodeKeyString(values) : encodeKeyString(values, this.#descending)
  }

  /**
   * Empty for a sparse index if all fields are missing.
   * @throws CommandError CannotIndexParallelArrays, 16746 (ambiguous numeric field name), 16766
   *   (array in a hashed index)
   */
  generate(bytes: Uint8Array, start = 0): DocumentKeys {
    const fields = this.#fields
    if (this.#hashed) {
      const tuple = this.#hashedTuple(bytes, start)
      return tuple === null ? noKeys : { keys: [this.encode(tuple)], arrays: null }
    }
    const tuple: KeyTuple = new Array<RawValue | undefined>(fields.length)
    let missing = this.#finder === null ? 0 : this.#finder.find(bytes, start, tuple)
    // The document may be a view of a message, which the finder would keep alive.
    this.#finder?.release()
    for (let i = 0; i < fields.length; i++) {
      if (this.#finder === null) {
        tuple[i] = this.#extract(bytes, start, fields[i]!.parts, 0)
        if (tuple[i] === undefined) missing++
      }
      if (tuple[i]?.type === BsonType.array) return this.#generateThroughArrays(bytes, start)
    }
    return this.#sparse && missing === fields.length ? noKeys : { keys: [this.encode(tuple)], arrays: null }
  }

  needsCheck(bytes: Uint8Array, start = 0): boolean {
    if (this.#labels !== null) return true
    for (const { parts } of this.#fields)
      if (this.#extract(bytes, start, parts, 0)?.type === BsonType.array) return true
    return false
  }

  isUnchanged(previous: Uint8Array, document: Uint8Array): boolean {
    for (const { parts } of this.#fields) {
      const before = this.#extract(previous, 0, parts, 0)
      const after = this.#extract(document, 0, parts, 0)
      if (before === undefined ? after !== undefined : after === undefined || !before.isIdentical(after)) return false
      if (before?.type === BsonType.array) return false
    }
    return true
  }

  /**
   * The tuples of {@link generate}, repeated ones included.
   * @param arrays receives the components that were arrays
   */
  tuplesOf(bytes: Uint8Array, arrays?: Set<number>[], start = 0): KeyTuple[] {
    if (this.#hashed) {
      const tuple = this.#hashedTuple(bytes, start)
      return tuple === null ? [] : [tuple]
    }
    const tuples: KeyTuple[] = []
    const walks = this.#fields.map((): Walk => ({ at: 0, value: undefined }))
    this.#collect(walks, bytes, start, 0, undefined, tuples, arrays)
    return tuples
  }

  #hashedTuple(bytes: Uint8Array, start: number): KeyTuple | null {
    let missing = 0
    const tuple = this.#fields.map(({ path, parts, hashed }) => {
      const value = this.#extract(bytes, start, parts, 0)
      if (value?.type === BsonType.array) {
        const prefix = parts.slice(0, this.#stoppedAt).join('.')
        throw new CommandError(
          16766,
          `Error: hashed indexes do not currently support array values. Found array at path: ${prefix || path}`,
        )
      }
      if (value === undefined) missing++
      if (!hashed) return value
      return hashedKeyValue(value === undefined || this.#labels === null ? value : labelled(value, this.#labels))
    })
    return this.#sparse && missing === this.#fields.length ? null : tuple
  }

  #generateThroughArrays(bytes: Uint8Array, start: number): DocumentKeys {
    const arrays = this.#fields.map(() => new Set<number>())
    const keys = new Set<string>()
    for (const tuple of this.tuplesOf(bytes, arrays, start)) keys.add(this.encode(tuple))
    return { keys: [...keys].sort(), arrays }
  }

  /**
   * Follows the path to its end or to the first array. The remaining path then begins at
   * `#stoppedAt`.
   */
  #extract(bytes: Uint8Array, documentStart: number, parts: readonly string[], from: number): RawValue | undefined {
    let start = documentStart
    for (let at = from; ; at++) {
      const value = findField(bytes, parts[at]!, start)
      if (at + 1 === parts.length || value === undefined || value.type === BsonType.array) {
        this.#stoppedAt = at + 1
        return value
      }
      if (value.type !== BsonType.object) {
        this.#stoppedAt = parts.length
        return undefined
      }
      start = value.start
    }
  }

  /**
   * @param bytes null: inside an element that is not a document
   * @param missing accumulates along the path, as on the server
   */
  #collect(
    walks: Walk[],
    bytes: Uint8Array | null,
    start: number,
    missing: number,
    selected: readonly (Selected | undefined)[] | undefined,
    tuples: KeyTuple[],
    arrays: Set<number>[] | undefined,
  ): void {
    const fields = this.#fields
    let array: RawValue | undefined
    let arrayName = ''
    let expandsElements = true
    const throughArray: number[] = []
    for (let i = 0; i < fields.length; i++) {
      const walk = walks[i]!
      const parts = fields[i]!.parts
      if (walk.at >= parts.length) continue
      const picked = selected?.[i]
      const here = bytes === null ? undefined : findField(bytes, parts[walk.at]!, start)
      if (here !== undefined && picked !== undefined) {
        throw new CommandError(
          16746,
          `Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '${parts[walk.at]!}' for array: ${formatValue(picked.array)}`,
        )
      }
      let value: RawValue | undefined
      let nested = false
      if (here !== undefined) {
        value = this.#extract(bytes!, start, parts, walk.at)
        walk.at = this.#stoppedAt
      } else if (picked !== undefined) {
        value = picked.value
        walk.at = picked.at
        nested = picked.elementIsArray
      }
      if (value === undefined) {
        walk.value = undefined
        walk.at = parts.length
        missing++
      } else if (value.type === BsonType.array) {
        const name = parts[walk.at - 1]!
        if (array === undefined) {
          array = value
          arrayName = name
        } else if (value.bytes !== array.bytes || value.start !== array.start) {
          throw new CommandError('CannotIndexParallelArrays', `cannot index parallel arrays [${name}] [${arrayName}]`)
        }
        throughArray.push(i)
        if (nested) expandsElements = false
      } else {
        walk.value = value
        walk.at = parts.length
      }
    }
    if (array === undefined) {
      if (!(this.#sparse && missing === fields.length)) tuples.push(walks.map(({ value }) => value))
      return
    }
    this.#expand(walks, array, throughArray, expandsElements, missing, tuples, arrays)
  }

  #expand(
    walks: readonly Walk[],
    array: RawValue,
    throughArray: readonly number[],
    expandsElements: boolean,
    missing: number,
    tuples: KeyTuple[],
    arrays: Set<number>[] | undefined,
  ): void {
    const fields = this.#fields
    const isEmpty = array.end - array.start <= 5
    const selected: (Selected | undefined)[] = new Array<Selected | undefined>(fields.length).fill(undefined)
    for (const i of throughArray) {
      const { at } = walks[i]!
      const { parts } = fields[i]!
      if (at === parts.length) {
        if (expandsElements) arrays?.[i]!.add(at - 1)
        continue
      }
      const element = isEmpty ? undefined : findField(array.bytes, parts[at]!, array.start)
      if (element === undefined) arrays?.[i]!.add(at - 1)
      else {
        const value = this.#extract(array.bytes, array.start, parts, at)
        selected[i] = { array, elementIsArray: element.type === BsonType.array, value, at: this.#stoppedAt }
      }
    }
    const expandInto = (element: RawValue): void => {
      const next = walks.map((walk, i): Walk => {
        const ends = throughArray.includes(i) && walk.at === fields[i]!.parts.length
        return { at: walk.at, value: ends ? (expandsElements ? element : array) : walk.value }
      })
      const isDocument = element.type === BsonType.object
      this.#collect(
        next,
        isDocument ? element.bytes : null,
        element.start,
        missing,
        isEmpty ? undefined : selected,
        tuples,
        arrays,
      )
    }
    if (isEmpty) {
      expandsElements = true
      expandInto(undefinedValue)
    } else for (const element of elementsOf(array)) expandInto(element)
  }
}
