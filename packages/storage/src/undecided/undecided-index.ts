import { keyStringUpperBound } from '@shardlab/bson'
import type { Index, KeyRange } from '../engine/types.js'
import type { KeyTuple } from '../indexes/index-keys.js'
import type { KeyCursor } from '../tree/index-cursor.js'
import { positionOf } from './undecided-changes.js'

/** An index whose cursors do not pass keys that undecided transactions add or remove. */
export class UndecidedIndex implements Index {
  readonly #index: Index
  /** Sorted. Null: any key. */
  readonly #keys: readonly string[] | null
  readonly #meet: () => never

  constructor(index: Index, keys: readonly string[] | null, meet: () => never) {
    this.#index = index
    this.#keys = keys
    this.#meet = meet
  }

  get spec() {
    return this.#index.spec
  }
  get name() {
    return this.#index.name
  }
  get key() {
    return this.#index.key
  }
  get pattern() {
    return this.#index.pattern
  }
  get unique() {
    return this.#index.unique
  }
  get sparse() {
    return this.#index.sparse
  }
  get hidden() {
    return this.#index.hidden
  }
  get partialFilter() {
    return this.#index.partialFilter
  }
  get partialRoot() {
    return this.#index.partialRoot
  }
  get multikey() {
    return this.#index.multikey
  }
  get multikeyPaths() {
    return this.#index.multikeyPaths
  }
  get collation() {
    return this.#index.collation
  }
  get labels() {
    return this.#index.labels
  }
  get wildcard() {
    return this.#index.wildcard
  }
  get arrayPaths() {
    return this.#index.arrayPaths
  }
  get usage() {
    return this.#index.usage
  }
  get entries() {
    return this.#index.entries
  }
  get sizeBytes() {
    return this.#index.sizeBytes
  }

  keysOf(document: Uint8Array): readonly string[] {
    return this.#index.keysOf(document)
  }

  tuplesOf(document: Uint8Array): KeyTuple[] {
    return this.#index.tuplesOf(document)
  }

  encode(tuple: KeyTuple): string {
    return this.#index.encode(tuple)
  }

  seek(range: KeyRange, reverse = false): KeyCursor {
    const { low, high } = range
    const from = low === undefined || range.lowInclusive !== false ? low : keyStringUpperBound(low)
    const to = high === undefined || range.highInclusive === false ? high : keyStringUpperBound(high)
    return this.scanKeys(from, to, reverse)
  }

  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): KeyCursor {
    const inner = this.#index.scanKeys(from, to, reverse)
    return new UndecidedCursor(inner, this.#keys, { from, to, reverse }, this.#meet)
  }
}

interface Scanned {
  /** Undefined: unbounded. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly reverse: boolean
}

class UndecidedCursor implements KeyCursor {
  readonly #inner: KeyCursor
  readonly #keys: readonly string[] | null
  readonly #meet: () => never
  readonly #reverse: boolean
  /** What has not been passed. */
  #from: string | undefined
  #to: string | undefined

  constructor(inner: KeyCursor, keys: readonly string[] | null, { from, to, reverse }: Scanned, meet: () => never) {
    this.#inner = inner
    this.#keys = keys
    this.#meet = meet
    this.#reverse = reverse
    this.#from = from
    this.#to = to
  }

  get key(): string {
    return this.#inner.key
  }

  next(): number {
    const recordId = this.#inner.next()
    const { key } = this.#inner
    const isEnd = recordId < 0
    if (this.#reverse) {
      this.#check(isEnd ? this.#from : key, this.#to, !isEnd)
      this.#to = key
    } else {
      this.#check(this.#from, isEnd ? this.#to : `${key}\0`, false)
      this.#from = key
    }
    return recordId
  }

  /**
   * @param withStart a key of a non-unique index ends in a record id, so the changed key may be its
   *   beginning
   */
  #check(from: string | undefined, to: string | undefined, withStart: boolean): void {
    const keys = this.#keys
    if (keys === null) this.#meet()
    const at = from === undefined ? 0 : positionOf(keys, from)
    const first = keys[at]
    if (first !== undefined && (to === undefined || first < to)) this.#meet()
    const before = at > 0 ? keys[at - 1]! : null
    if (withStart && before !== null && from!.startsWith(before)) this.#meet()
  }

  *[Symbol.iterator](): Generator<number, void, void> {
    for (let recordId = this.next(); recordId >= 0; recordId = this.next()) yield recordId
  }
}
