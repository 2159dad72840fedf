/** The indexes of one collection, and what a change does to all of them. */
import { CommandError } from '@shardlab/bson'
import type { DocumentKeys } from './index-keys.js'
import type { MemoryIndex, ReplacedKeys } from './memory-index.js'

/** For each index behind that on `_id`; null: its keys can wait. */
type PreparedKeys = readonly (DocumentKeys | null)[]

/** An index with what changes in it. */
export interface ReplacedIn {
  readonly index: MemoryIndex
  readonly keys: ReplacedKeys
}

export class CollectionIndexes {
  #list: readonly MemoryIndex[]

  constructor(list: readonly MemoryIndex[]) {
    this.#list = list
  }

  /** In order of creation, `_id_` first. */
  get list(): readonly MemoryIndex[] {
    return this.#list
  }
  get id(): MemoryIndex {
    return this.#list[0]!
  }

  named(name: string): MemoryIndex | undefined {
    return this.#list.find((index) => index.name === name)
  }

  /** @throws CommandError IndexNotFound */
  mustFind(name: string): MemoryIndex {
    const index = this.named(name)
    if (index === undefined) throw new CommandError('IndexNotFound', `index not found with name [${name}]`)
    return index
  }

  add(index: MemoryIndex): void {
    this.#list = [...this.#list, index]
  }

  /** @throws CommandError IndexNotFound; InvalidOptions for that on `_id` */
  drop(name: string): void {
    const index = this.mustFind(name)
    if (index === this.id) throw new CommandError('InvalidOptions', 'cannot drop _id index')
    this.#list = this.#list.filter((other) => other !== index)
  }

  /**
   * The keys of one document, as far as indexes must have them now, checked: after this nothing can fail. Null: none of them.
   * @throws CommandError as {@link MemoryIndex.prepare}
   */
  prepare(ns: string, document: Uint8Array, recordId: number): PreparedKeys | null {
    const list = this.#list
    let prepared: (DocumentKeys | null)[] | null = null
    for (let i = 1; i < list.length; i++) {
      const keys = list[i]!.prepare(ns, document, recordId)
      if (keys !== null) (prepared ??= new Array<DocumentKeys | null>(list.length - 1).fill(null))[i - 1] = keys
    }
    return prepared
  }

  insert(prepared: PreparedKeys, recordId: number): void {
    for (let i = 0; i < prepared.length; i++) this.#list[i + 1]!.insert(prepared[i]!, recordId)
  }

  /**
   * What changes in each index behind that on `_id` when a record gets a new document, checked: after this nothing can fail. Null: nothing.
   * @throws CommandError as {@link MemoryIndex.prepareReplacement}
   */
  prepareReplacement(ns: string, previous: Uint8Array, document: Uint8Array, recordId: number): ReplacedIn[] | null {
    let replaced: ReplacedIn[] | null = null
    for (let i = 1; i < this.#list.length; i++) {
      const index = this.#list[i]!
      const keys = index.prepareReplacement(ns, previous, document, recordId)
      if (keys !== null) (replaced ??= []).push({ index, keys })
    }
    return replaced
  }

  /** Of documents that have been stored all at once, from this record on. @throws CommandError as {@link MemoryIndex.waitingKeys}: no index has changed then */
  insertAll(ns: string, firstRecordId: number): void {
    const waiting = this.#list.map((index) => index.waitingKeys(ns, firstRecordId))
    waiting.forEach((keys, i) => keys !== null && this.#list[i]!.addWaiting(keys))
  }
}
