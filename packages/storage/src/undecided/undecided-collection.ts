import { documentAt, findField, type RawValue } from '@shardlab/bson'
import type { FilterNode } from '@shardlab/query'
import type { CappedLimits, Collection, Index, IndexBuild, ScanOptions } from '../engine/types.js'
import type { DocumentScan, StoredRecord } from '../records/record-table.js'
import type { UndecidedChanges } from './undecided-changes.js'
import { UndecidedIndex } from './undecided-index.js'

/**
 * A collection for a read that needs the outcome of transactions. The read ends with what `meet`
 * throws when it reaches a key or a document that they change.
 */
export class UndecidedCollection implements Collection {
  readonly #collection: Collection
  readonly #changes: readonly UndecidedChanges[]
  readonly #meet: () => never
  /** Null: any document may change. */
  readonly #ids: readonly ReadonlySet<string>[] | null
  readonly #indexes: readonly Index[]

  constructor(collection: Collection, changes: readonly UndecidedChanges[], meet: () => never) {
    this.#collection = collection
    this.#changes = changes
    this.#meet = meet
    const ids = changes.flatMap((each) => each.ids ?? [])
    this.#ids = ids.length === changes.length ? ids : null
    this.#indexes = collection.indexes().map((index) => {
      const keys = changes.map((each) => each.keys.get(index.name) ?? null)
      const known = keys.every((each) => each !== null)
      const [sole] = keys
      const all = !known ? null : keys.length === 1 ? sole! : keys.flatMap((each) => each ?? []).sort()
      return new UndecidedIndex(index, all, meet)
    })
  }

  get ns(): string {
    return this.#collection.ns
  }
  get uuid(): Uint8Array {
    return this.#collection.uuid
  }
  get options(): Uint8Array {
    return this.#collection.options
  }
  get count(): number {
    return this.#collection.count
  }
  get dataSizeBytes(): number {
    return this.#collection.dataSizeBytes
  }
  get capped(): CappedLimits | null {
    return this.#collection.capped
  }
  get clustered(): boolean {
    return this.#collection.clustered
  }
  get defaultCollation(): Uint8Array | null {
    return this.#collection.defaultCollation
  }
  get indexFilters(): Collection['indexFilters'] {
    return this.#collection.indexFilters
  }
  get documentsWithoutKeys(): number {
    return this.#collection.documentsWithoutKeys
  }

  indexes(): readonly Index[] {
    return this.#indexes
  }

  index(name: string): Index | undefined {
    return this.#indexes.find((each) => each.name === name)
  }

  findById(id: RawValue): StoredRecord | undefined {
    this.#checkId(id)
    return this.#collection.findById(id)
  }

  /** By a key that the read has passed: the document itself is not read yet. */
  get(recordId: number): StoredRecord | undefined {
    return this.#collection.get(recordId)
  }

  checkRead(document: Uint8Array): void {
    this.#checkId(findField(document, '_id')!)
  }

  #checkId(id: RawValue): void {
    const all = this.#ids ?? this.#meet()
    const key = this.#collection.indexes()[0]!.encode([id])
    for (const ids of all) if (ids.has(key)) this.#meet()
  }

  scan(options: ScanOptions = {}): DocumentScan {
    const inserts = this.#changes.some((each) => each.inserts)
    return new UndecidedScan(this.#collection.scan(options), this, inserts, options.reverse === true, this.#meet)
  }

  snapshot(): Collection {
    const snapshot = this.#collection.snapshot()
    return snapshot === this.#collection ? this : new UndecidedCollection(snapshot, this.#changes, this.#meet)
  }

  scanBounds(root: FilterNode): ScanOptions {
    return this.#collection.scanBounds?.(root) ?? {}
  }

  cappedOverflow(): readonly StoredRecord[] {
    return this.#collection.cappedOverflow()
  }

  addKeys(): number {
    return this.#collection.addKeys()
  }

  startIndexBuild(specification: Uint8Array, sinceMs: number): IndexBuild {
    return this.#collection.startIndexBuild(specification, sinceMs)
  }
}

/** Inserted documents come after all others. */
class UndecidedScan implements DocumentScan {
  readonly #inner: DocumentScan
  readonly #collection: UndecidedCollection
  readonly #inserts: boolean
  readonly #reverse: boolean
  readonly #meet: () => never

  constructor(
    inner: DocumentScan,
    collection: UndecidedCollection,
    inserts: boolean,
    reverse: boolean,
    meet: () => never,
  ) {
    this.#inner = inner
    this.#collection = collection
    this.#inserts = inserts
    this.#reverse = reverse
    this.#meet = meet
  }

  get recordId(): number {
    return this.#inner.recordId
  }
  get bytes(): Uint8Array {
    return this.#inner.bytes
  }
  get start(): number {
    return this.#inner.start
  }

  step(): boolean {
    if (this.#inserts && this.#reverse) this.#meet()
    const isThere = this.#inner.step()
    if (isThere) this.#collection.checkRead(documentAt(this.bytes, this.start))
    else if (this.#inserts) this.#meet()
    return isThere
  }

  next(): StoredRecord | null {
    return this.step() ? { recordId: this.recordId, document: documentAt(this.bytes, this.start) } : null
  }

  *[Symbol.iterator](): Generator<StoredRecord, void, void> {
    for (let record = this.next(); record !== null; record = this.next()) yield record
  }
}
