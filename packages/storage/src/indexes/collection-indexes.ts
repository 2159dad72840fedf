import { CommandError } from '@shardlab/bson'
import type { DocumentKeys } from './index-keys.js'
import type { MemoryIndex, ReplacedKeys } from './memory-index.js'

/** For each index except the first, `_id_`; null: the index defers its keys. */
type PreparedKeys = readonly (DocumentKeys | null)[]

export interface ReplacedIn {
  readonly index: MemoryIndex
  readonly keys: ReplacedKeys
}

export class CollectionIndexes {
  #list: readonly MemoryIndex[]

  constructor(list: readonly MemoryIndex[]) {
    this.#list = list
  }

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

  /** @throws CommandError IndexNotFound; InvalidOptions for `_id_` */
  drop(name: string): void {
    const index = this.mustFind(name)
    if (index === this.id) throw new CommandError('InvalidOptions', 'cannot drop _id index')
    this.#list = this.#list.filter((other) => other !== index)
  }

  /**
   * The keys that indexes need now, already checked: {@link insert} cannot fail.
   * @returns null: all indexes defer their keys
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
   * The changes in all indexes except `_id_`, already checked: applying them cannot fail.
   * @returns null: no change
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

  /**
   * Adds the keys of the stored records from `firstRecordId`.
   * @throws CommandError as {@link MemoryIndex.keysToAdd}: no index has changed then
   */
  insertAll(ns: string, firstRecordId: number): void {
    const deferred = this.#list.map((index) => index.keysToAdd(ns, firstRecordId))
    deferred.forEach((keys, i) => keys !== null && this.#list[i]!.addDeferred(keys))
  }
}
