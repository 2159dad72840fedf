import { emptyDocument, encodeKeyString, findField, sameBytes, type RawValue } from '@shardlab/bson'
import { overflowOf } from '../records/capped.js'
import { CollectionIndexes } from '../indexes/collection-indexes.js'
import { beginsWithId, idOf } from '../records/document-id.js'
import { DocumentStore } from '../records/document-store.js'
import { duplicateKeyError } from '../indexes/duplicate-key.js'
import { IdTable } from '../records/id-table.js'
import { idIndexSpec, type IndexVersion } from '../index-specs/index-spec.js'
import { InsertedDocuments } from '../records/inserted-documents.js'
import type { RestoredIndex } from '../indexes/index-parts.js'
import { IndexFilters } from '../planner/index-filters.js'
import { MemoryIndex } from '../indexes/memory-index.js'
import { RecordTable, type RecordScan, type StoredRecord } from '../records/record-table.js'
import { rulesOf, type CollectionRules } from './collection-rules.js'
import { MemoryIndexBuild } from './index-build.js'
import type { CappedLimits, Collection } from './types.js'

const none: readonly StoredRecord[] = []
const keysInStep = 4096

export class MemoryCollection implements Collection {
  #ns: string
  readonly uuid: Uint8Array
  #options: Uint8Array
  rules: CollectionRules
  #dataSizeBytes = 0
  #nextRecordId = 1
  readonly #records: RecordTable
  #indexes: CollectionIndexes
  /** Null in snapshots and new clones, which search the index. */
  #byId: IdTable | null = null
  #lookupsWithoutTable = 0
  /** The last record stored or found, usually the next one requested. */
  #lastId = 0
  readonly #documents: DocumentStore
  readonly indexFilters: IndexFilters
  readonly isFrozen: boolean
  readonly #collated: boolean
  #snapshot: MemoryCollection | null = null
  #builds: readonly MemoryIndexBuild[] = []

  private constructor(
    ns: string,
    uuid: Uint8Array,
    options: Uint8Array,
    records: RecordTable,
    indexes: MemoryIndex[],
    frozen: boolean,
    indexFilters = new IndexFilters(),
  ) {
    this.indexFilters = indexFilters
    this.#ns = ns
    this.uuid = uuid
    this.#options = options
    this.rules = rulesOf(options)
    this.#records = records
    this.#documents = new DocumentStore(records)
    this.#indexes = new CollectionIndexes(indexes)
    this.isFrozen = frozen
    this.#collated = findField(options, 'collation') !== undefined
  }

  static create(
    ns: string,
    uuid: Uint8Array,
    options: Uint8Array,
    createdMs = 0,
    idIndexVersion: IndexVersion = 2,
  ): MemoryCollection {
    const records = new RecordTable()
    const indexes = [MemoryIndex.create(idIndexSpec(options, idIndexVersion), records, createdMs)]
    // Copied: the arguments may be views of a message or of a checkpoint, and so is a Buffer's
    // `slice`.
    const collection = new MemoryCollection(ns, new Uint8Array(uuid), new Uint8Array(options), records, indexes, false)
    collection.#byId = collection.#newTable()
    return collection
  }

  /** Frozen, without indexes; the documents may lack `_id`. */
  static ofDocuments(ns: string, uuid: Uint8Array, documents: Iterable<Uint8Array>): MemoryCollection {
    const listing = new MemoryCollection(ns, uuid, emptyDocument, new RecordTable(), [], true)
    for (const document of documents) {
      listing.#documents.put(listing.#nextRecordId++, document)
      listing.#dataSizeBytes += document.length
    }
    return listing
  }

  get ns(): string {
    return this.#ns
  }
  get options(): Uint8Array {
    return this.#options
  }
  get capped(): CappedLimits | null {
    return this.rules.capped
  }
  get clustered(): boolean {
    return findField(this.#options, 'clusteredIndex') !== undefined
  }
  get defaultCollation(): Uint8Array | null {
    return findField(this.#options, 'collation')?.slice() ?? null
  }
  get count(): number {
    return this.#records.count
  }
  get dataSizeBytes(): number {
    return this.#dataSizeBytes
  }
  get nextRecordId(): number {
    return this.#nextRecordId
  }
  /** The last record that was stored, found or deleted. */
  get lastRecordId(): number {
    return this.#lastId
  }
  /** How often its documents have moved to new slabs. */
  get moves(): number {
    return this.#documents.moves
  }

  indexes(): readonly MemoryIndex[] {
    return this.#indexes.list
  }

  index(name: string): MemoryIndex | undefined {
    return this.#indexes.named(name)
  }

  findById(id: RawValue): StoredRecord | undefined {
    const last = this.#records.cachedDocument(this.#lastId)
    if (last !== undefined && beginsWithId(last, id)) return { recordId: this.#lastId, document: last }
    if (this.#byId === null) this.#countLookup()
    const table = this.#byId
    const record = table === null ? this.#findInIndex(id) : table.find(id, table.hashOf(id))
    if (record !== undefined) this.#lastId = record.recordId
    return record
  }

  get(recordId: number): StoredRecord | undefined {
    return this.#records.get(recordId)
  }

  scan(options: { reverse?: boolean; after?: number } = {}): RecordScan {
    return this.#records.scan(options.reverse ?? false, options.after)
  }

  records(): RecordTable {
    return this.#records.clone()
  }

  cappedOverflow(): readonly StoredRecord[] {
    return this.rules.capped === null ? none : overflowOf(this.#records, this.#dataSizeBytes, this.rules.capped)
  }

  snapshot(): MemoryCollection {
    if (this.isFrozen) return this
    this.#snapshot ??= this.#copy(true)
    return this.#snapshot
  }

  /**
   * @param separateUsage for a clone on another node, which counts the uses of its indexes itself
   * @param isSeldomRead see {@link MemoryIndex.clone}
   */
  clone(separateUsage = false, isSeldomRead = false): MemoryCollection {
    return this.#copy(false, separateUsage, isSeldomRead)
  }

  /** @throws CommandError DuplicateKey and the errors of index keys; nothing has changed then */
  insert(document: Uint8Array): void {
    this.#beforeChange()
    const id = idOf(document)
    if (this.#byId === null) this.#countLookup()
    const table = this.#byId
    const hash = table === null ? 0 : table.hashOf(id)
    if ((table === null ? this.#findInIndex(id) : table.find(id, hash)) !== undefined)
      throw duplicateKeyError(this.#idIndex, this.#ns, document, this.#keyOf(id))
    const recordId = this.#nextRecordId
    const prepared = this.#indexes.prepare(this.#ns, document, recordId)
    this.#documents.put(recordId, document)
    this.#lastId = recordId
    this.#nextRecordId++
    this.#dataSizeBytes += document.length
    if (this.#collated) this.#idIndex.insert({ keys: [this.#keyOf(id)], arrays: null }, recordId)
    if (prepared !== null) this.#indexes.insert(prepared, recordId)
    table?.add(recordId, hash)
  }

  /**
   * {@link insert} of many documents, all or none: each index adds their keys in one run.
   * @throws as {@link insert}
   */
  insertAll(documents: Iterable<Uint8Array>): InsertedDocuments {
    this.#beforeChange()
    const first = this.#nextRecordId
    let sizeBytes = 0
    // Build the table first: without it, each lookup would generate keys.
    const table = (this.#byId ??= this.#newTable())
    try {
      for (const document of documents) {
        const id = idOf(document)
        const hash = table.hashOf(id)
        if (table.find(id, hash) !== undefined)
          throw duplicateKeyError(this.#idIndex, this.#ns, document, this.#keyOf(id))
        const recordId = this.#nextRecordId++
        this.#documents.put(recordId, document)
        table.add(recordId, hash)
        sizeBytes += document.length
      }
      this.#indexes.insertAll(this.#ns, first)
    } catch (error) {
      for (const { recordId, document } of this.#records.clone().scan(false, first - 1)) {
        this.#records.delete(recordId)
        table.delete(recordId, table.hashOf(idOf(document)))
      }
      throw error
    }
    this.#dataSizeBytes += sizeBytes
    return new InsertedDocuments(this.#records.clone(), first, this.#nextRecordId - first, sizeBytes)
  }

  /**
   * @returns the previous document
   * @throws as {@link insert}
   */
  update(id: RawValue, document: Uint8Array): Uint8Array {
    this.#beforeChange()
    const previous = this.#mustFind(id)
    const { recordId } = previous
    if (!beginsWithId(document, id) && this.#keyOf(idOf(document)) !== this.#keyOf(id))
      throw new Error(`a log entry changes the _id of a document in ${this.#ns}`)
    const replaced = this.#indexes.prepareReplacement(this.#ns, previous.document, document, recordId)
    if (replaced !== null) for (const { index, keys } of replaced) index.replace(keys, recordId)
    this.#noteChange(recordId)
    this.#documents.put(recordId, document)
    this.#dataSizeBytes += document.length - previous.document.length
    this.#documents.compactIfWorthwhile(this.#dataSizeBytes)
    return previous.document
  }

  delete(id: RawValue): Uint8Array {
    this.#beforeChange()
    const { recordId, document } = this.#mustFind(id)
    for (const index of this.#indexes.list) index.remove(document, recordId)
    this.#noteChange(recordId)
    this.#records.delete(recordId)
    this.#byId?.delete(recordId, this.#byId.hashOf(id))
    this.#dataSizeBytes -= document.length
    this.#documents.compactIfWorthwhile(this.#dataSizeBytes)
    return document
  }

  /** Undoes {@link delete}. */
  storeAgain(recordId: number, document: Uint8Array): void {
    this.#beforeChange()
    this.#documents.put(recordId, document)
    for (const index of this.#indexes.list) index.addRemoved(document, recordId)
    this.#byId?.add(recordId, this.#byId.hashOf(idOf(document)))
    this.#dataSizeBytes += document.length
  }

  /** @throws CommandError DuplicateKey and the errors of index keys */
  addIndex(specDocument: Uint8Array, createdMs = 0): MemoryIndex {
    this.#beforeChange()
    const build = this.#builds.find(({ spec }) => sameBytes(spec, specDocument))
    let index: MemoryIndex
    if (build === undefined) {
      index = MemoryIndex.create(specDocument, this.#records, createdMs)
      index.build(this.#ns)
    } else index = build.finish(this.#records)
    this.#indexes.add(index)
    return index
  }

  get documentsWithoutKeys(): number {
    let most = 0
    for (const index of this.#indexes.list) most = Math.max(most, index.recordsBehind)
    return most
  }

  addKeys(): number {
    for (const index of this.#indexes.list) {
      const added = index.catchUpSome(this.#ns, keysInStep, true)
      if (added > 0) return added
    }
    return 0
  }

  startIndexBuild(specification: Uint8Array, sinceMs: number): MemoryIndexBuild {
    const build = new MemoryIndexBuild(
      this.#ns,
      MemoryIndex.create(specification, new RecordTable(), sinceMs),
      () => this.#records.clone(),
      (closed) => (this.#builds = this.#builds.filter((other) => other !== closed)),
    )
    this.#builds = [...this.#builds, build]
    return build
  }

  /** @throws CommandError IndexNotFound */
  dropIndex(name: string): void {
    this.#beforeChange()
    this.#indexes.drop(name)
  }

  /**
   * Only for options that do not affect keys.
   * @throws CommandError IndexNotFound
   */
  changeIndex(name: string, specDocument: Uint8Array): void {
    this.#beforeChange()
    this.#indexes.mustFind(name).replaceSpec(specDocument)
  }

  rename(ns: string): void {
    this.#beforeChange()
    this.#ns = ns
  }

  changeOptions(options: Uint8Array): void {
    this.#beforeChange()
    this.#options = new Uint8Array(options)
    this.rules = rulesOf(this.#options)
  }

  /**
   * Fills an empty collection from a checkpoint.
   * @param records in order of ids
   */
  restore(nextRecordId: number, records: Iterable<StoredRecord>, indexes: readonly RestoredIndex[]): void {
    this.#beforeChange()
    for (const { recordId, document } of records) {
      this.#documents.put(recordId, document)
      this.#dataSizeBytes += document.length
    }
    this.#nextRecordId = nextRecordId
    const restoredIndexes = indexes.map((restored) => {
      const index = MemoryIndex.create(restored.spec, this.#records)
      index.restore(this.#ns, restored)
      return index
    })
    this.#indexes = new CollectionIndexes(restoredIndexes)
    this.#byId = this.#newTable()
  }

  #keyOf(id: RawValue): string {
    return this.#collated ? this.#idIndex.encode([id]) : encodeKeyString([id])
  }

  get #idIndex(): MemoryIndex {
    return this.#indexes.id
  }

  #noteChange(recordId: number): void {
    for (const build of this.#builds) build.noteChange(recordId)
  }

  #beforeChange(): void {
    if (this.isFrozen) throw new Error(`a snapshot of ${this.#ns} cannot be changed`)
    this.#snapshot = null
  }

  /**
   * A clone builds its `_id` table after as many lookups as it has records. A snapshot never does.
   */
  #countLookup(): void {
    if (!this.isFrozen && ++this.#lookupsWithoutTable > this.count) this.#byId = this.#newTable()
  }

  #findInIndex(id: RawValue): StoredRecord | undefined {
    const recordId = this.#idIndex.recordOf(this.#keyOf(id))
    return recordId === undefined ? undefined : this.#records.get(recordId)
  }

  #mustFind(id: RawValue): StoredRecord {
    const record = this.findById(id)
    if (record === undefined) throw new Error(`a log entry changes a document that is not in ${this.#ns}`)
    return record
  }

  #newTable(): IdTable {
    const table = new IdTable(this.#records, this.#collated ? (id) => this.#keyOf(id) : null)
    const scan = this.#records.scan()
    while (scan.step()) table.add(scan.recordId, table.hashOf(idOf(scan.bytes, scan.start)))
    return table
  }

  #copy(frozen: boolean, separateUsage = false, isSeldomRead = false): MemoryCollection {
    const records = this.#records.clone()
    const indexes = this.#indexes.list.map((index) => index.clone(records, separateUsage, isSeldomRead))
    const filters = separateUsage ? new IndexFilters() : this.indexFilters
    const copy = new MemoryCollection(this.#ns, this.uuid, this.#options, records, indexes, frozen, filters)
    copy.#dataSizeBytes = this.#dataSizeBytes
    copy.#nextRecordId = this.#nextRecordId
    return copy
  }
}
