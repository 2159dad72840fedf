/** One collection in memory: records, the table of `_id`s and the indexes, kept in step by the three changes below. */
import { CommandError, encodeKeyString, findField, type RawValue } from '@shardlab/bson'
import { Arena } from './arena.js'
import { cappedLimitsOf, overflowOf } from './capped.js'
import { idOf } from './document-id.js'
import { duplicateKeyError } from './duplicate-key.js'
import { IdTable } from './id-table.js'
import type { DocumentKeys } from './index-keys.js'
import { idIndexSpec } from './index-spec.js'
import type { RestoredIndex } from './index-parts.js'
import { MemoryIndex } from './memory-index.js'
import { RecordTable, type RecordScan, type StoredRecord } from './record-table.js'
import type { ApplyResult, CappedLimits, Collection } from './types.js'

/** Dead bytes in slabs below which a collection is never rewritten. */
const tolerableGarbageBytes = 8 * 1024 * 1024

const none: readonly StoredRecord[] = []

export class MemoryCollection implements Collection {
  #ns: string
  readonly uuid: Uint8Array
  #options: Uint8Array
  #capped: CappedLimits | null
  #dataSizeBytes = 0
  #nextRecordId = 1
  #records: RecordTable
  /** In order of creation, `_id_` first. */
  #indexes: MemoryIndex[]
  /** Null in snapshots and young clones, which look into the index. */
  #byId: IdTable | null = null
  #lookupsWithoutTable = 0
  #arena = new Arena()
  readonly #frozen: boolean
  readonly #collated: boolean
  /** The snapshot of this very state, until the next change. */
  #snapshot: MemoryCollection | null = null

  private constructor(ns: string, uuid: Uint8Array, options: Uint8Array, records: RecordTable, indexes: MemoryIndex[], frozen: boolean) {
    this.#ns = ns
    this.uuid = uuid
    this.#options = options
    this.#capped = cappedLimitsOf(options)
    this.#records = records
    this.#indexes = indexes
    this.#frozen = frozen
    this.#collated = findField(options, 'collation') !== undefined
  }

  /** An empty collection with its `_id_` index. */
  static create(ns: string, uuid: Uint8Array, options: Uint8Array, createdMs = 0): MemoryCollection {
    const records = new RecordTable()
    const indexes = [MemoryIndex.create(idIndexSpec(options), records, createdMs)]
    // Copies: what comes may be a view on a message or a whole checkpoint, and `slice` of a Buffer would be another one.
    const collection = new MemoryCollection(ns, new Uint8Array(uuid), new Uint8Array(options), records, indexes, false)
    collection.#byId = collection.#newTable()
    return collection
  }

  get ns(): string {
    return this.#ns
  }
  get options(): Uint8Array {
    return this.#options
  }
  get capped(): CappedLimits | null {
    return this.#capped
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
  /** The id that the next document gets. */
  get nextRecordId(): number {
    return this.#nextRecordId
  }

  indexes(): readonly MemoryIndex[] {
    return this.#indexes
  }

  index(name: string): MemoryIndex | undefined {
    return this.#indexes.find((index) => index.name === name)
  }

  findById(id: RawValue): StoredRecord | undefined {
    if (this.#byId === null) this.#countLookup()
    const table = this.#byId
    return table === null ? this.#findInIndex(id) : table.find(id, table.hashOf(id))
  }

  get(recordId: number): StoredRecord | undefined {
    return this.#records.get(recordId)
  }

  scan(options: { reverse?: boolean; after?: number } = {}): RecordScan {
    return this.#records.scan(options.reverse ?? false, options.after)
  }

  /** The records as they are now, for as long as somebody wants them. */
  records(): RecordTable {
    return this.#records.clone()
  }

  cappedOverflow(): readonly StoredRecord[] {
    return this.#capped === null ? none : overflowOf(this.#records, this.#dataSizeBytes, this.#capped)
  }

  snapshot(): MemoryCollection {
    if (this.#frozen) return this
    this.#snapshot ??= this.#copy(true)
    return this.#snapshot
  }

  /** A collection of its own with the same contents. `apart`: in another node, which counts the uses of its indexes by itself. */
  clone(apart = false): MemoryCollection {
    return this.#copy(false, apart)
  }

  /** @throws CommandError DuplicateKey, or what an index refuses the document with; nothing has changed then. */
  insert(document: Uint8Array): ApplyResult {
    this.#beforeChange()
    const id = idOf(document)
    if (this.#byId === null) this.#countLookup()
    const table = this.#byId
    const hash = table === null ? 0 : table.hashOf(id)
    if ((table === null ? this.#findInIndex(id) : table.find(id, hash)) !== undefined)
      throw duplicateKeyError(this.#idIndex, this.#ns, document, this.#keyOf(id))
    const recordId = this.#nextRecordId
    const prepared = this.#prepareKeys(document, recordId)
    const record = this.#store(recordId, document)
    this.#nextRecordId++
    this.#dataSizeBytes += document.length
    if (this.#collated) this.#idIndex.insert({ keys: [this.#keyOf(id)], arrays: null }, recordId)
    if (prepared !== null) for (let i = 0; i < prepared.length; i++) this.#indexes[i + 1]!.insert(prepared[i]!, recordId)
    table?.add(recordId, hash)
    return { record, preImage: null }
  }

  /** {@link insert} of many documents, all or none of them: each index takes their keys at once. @throws as {@link insert} */
  insertAll(documents: Iterable<Uint8Array>): StoredRecord[] {
    this.#beforeChange()
    const stored: StoredRecord[] = []
    const hashes: number[] = []
    // What is looked up while they come must not make keys.
    const table = (this.#byId ??= this.#newTable())
    try {
      for (const document of documents) {
        const id = idOf(document)
        const hash = table.hashOf(id)
        if (table.find(id, hash) !== undefined) throw duplicateKeyError(this.#idIndex, this.#ns, document, this.#keyOf(id))
        const record = this.#store(this.#nextRecordId++, document)
        table.add(record.recordId, hash)
        stored.push(record)
        hashes.push(hash)
      }
      const waiting = this.#indexes.map((index) => index.waitingKeys(this.#ns, stored))
      waiting.forEach((keys, i) => keys !== null && this.#indexes[i]!.addWaiting(keys))
    } catch (error) {
      stored.forEach(({ recordId }, i) => {
        this.#records.delete(recordId)
        table.delete(recordId, hashes[i]!)
      })
      throw error
    }
    for (const { document } of stored) this.#dataSizeBytes += document.length
    return stored
  }

  /** Replaces the document with this `_id`. @throws as {@link insert} */
  update(id: RawValue, document: Uint8Array): ApplyResult {
    this.#beforeChange()
    const previous = this.#mustFind(id)
    const { recordId } = previous
    const after = idOf(document)
    if (!after.isIdentical(id) && this.#keyOf(after) !== this.#keyOf(id)) throw new Error(`an update of ${this.#ns} changes _id`)
    const prepared = this.#prepareKeys(document, recordId)
    if (prepared !== null)
      for (let i = 0; i < prepared.length; i++) this.#indexes[i + 1]!.replace(previous.document, prepared[i]!, recordId)
    const record = this.#store(recordId, document)
    this.#dataSizeBytes += document.length - previous.document.length
    this.#compactIfWorthwhile()
    return { record, preImage: previous.document }
  }

  /** Removes the document with this `_id`. */
  delete(id: RawValue): ApplyResult {
    this.#beforeChange()
    const { recordId, document } = this.#mustFind(id)
    for (const index of this.#indexes) index.remove(document, recordId)
    this.#records.delete(recordId)
    this.#byId?.delete(recordId, this.#byId.hashOf(id))
    this.#dataSizeBytes -= document.length
    this.#compactIfWorthwhile()
    return { record: null, preImage: document }
  }

  /** Builds an index over what is there. @throws CommandError as the documents are refused with */
  addIndex(specDocument: Uint8Array, createdMs = 0): MemoryIndex {
    this.#beforeChange()
    const index = MemoryIndex.create(specDocument, this.#records, createdMs)
    index.build(this.#ns)
    this.#indexes = [...this.#indexes, index]
    return index
  }

  /** @throws CommandError IndexNotFound */
  dropIndex(name: string): void {
    this.#beforeChange()
    const index = this.index(name)
    if (index === undefined) throw new CommandError('IndexNotFound', `index not found with name [${name}]`)
    if (index === this.#idIndex) throw new CommandError('InvalidOptions', 'cannot drop _id index')
    this.#indexes = this.#indexes.filter((other) => other !== index)
  }

  /** Changes options of an index that need no new build. */
  changeIndex(name: string, specDocument: Uint8Array): void {
    this.#beforeChange()
    const index = this.index(name)
    if (index === undefined) throw new CommandError('IndexNotFound', `index not found with name [${name}]`)
    index.replaceSpec(specDocument)
  }

  rename(ns: string): void {
    this.#beforeChange()
    this.#ns = ns
  }

  changeOptions(options: Uint8Array): void {
    this.#beforeChange()
    this.#options = new Uint8Array(options)
    this.#capped = cappedLimitsOf(this.#options)
  }

  /** Fills an empty collection from a checkpoint; records come in order of ids. */
  restore(nextRecordId: number, records: Iterable<StoredRecord>, indexes: readonly RestoredIndex[]): void {
    this.#beforeChange()
    for (const { recordId, document } of records) {
      this.#store(recordId, document)
      this.#dataSizeBytes += document.length
    }
    this.#nextRecordId = nextRecordId
    this.#indexes = indexes.map((restored) => {
      const index = MemoryIndex.create(restored.spec, this.#records)
      index.restore(this.#ns, restored)
      return index
    })
    this.#byId = this.#newTable()
  }

  /** The key of an `_id`, under the collection's collation. */
  #keyOf(id: RawValue): string {
    return this.#collated ? this.#idIndex.encode([id]) : encodeKeyString([id])
  }

  get #idIndex(): MemoryIndex {
    return this.#indexes[0]!
  }

  #beforeChange(): void {
    if (this.#frozen) throw new Error(`a snapshot of ${this.#ns} cannot be changed`)
    this.#snapshot = null
  }

  /** A clone that is read a lot pays for its table once; a snapshot that is read once does not. */
  #countLookup(): void {
    if (!this.#frozen && ++this.#lookupsWithoutTable > this.count) this.#byId = this.#newTable()
  }

  #findInIndex(id: RawValue): StoredRecord | undefined {
    const recordId = this.#idIndex.recordOf(this.#keyOf(id))
    return recordId === undefined ? undefined : this.#records.get(recordId)
  }

  #mustFind(id: RawValue): StoredRecord {
    const record = this.findById(id)
    if (record === undefined) throw new Error(`the log changes a document that ${this.#ns} does not have`)
    return record
  }

  /** The keys for the indexes behind that on `_id`, as far as they must have them now, checked: after this nothing can fail. Null: none of them. */
  #prepareKeys(document: Uint8Array, recordId: number): (DocumentKeys | null)[] | null {
    const indexes = this.#indexes
    let prepared: (DocumentKeys | null)[] | null = null
    for (let i = 1; i < indexes.length; i++) {
      const keys = indexes[i]!.prepare(this.#ns, document, recordId)
      if (keys !== null) (prepared ??= new Array<DocumentKeys | null>(indexes.length - 1).fill(null))[i - 1] = keys
    }
    return prepared
  }

  #store(recordId: number, document: Uint8Array): StoredRecord {
    const record: StoredRecord = { recordId, document: this.#arena.store(document) }
    this.#records.set(record)
    return record
  }

  #newTable(): IdTable {
    const table = new IdTable(this.#records, this.#collated ? (id) => this.#keyOf(id) : null)
    const scan = this.#records.scan()
    for (let record = scan.next(); record !== null; record = scan.next()) table.add(record.recordId, table.hashOf(idOf(record.document)))
    return table
  }

  #copy(frozen: boolean, apart = false): MemoryCollection {
    const records = this.#records.clone()
    const indexes = this.#indexes.map((index) => index.clone(records, apart))
    const copy = new MemoryCollection(this.#ns, this.uuid, this.#options, records, indexes, frozen)
    copy.#dataSizeBytes = this.#dataSizeBytes
    copy.#nextRecordId = this.#nextRecordId
    return copy
  }

  /**
   * A slab lives as long as one document in it, so documents that stay among many that change could hold any
   * amount of memory. When more is dead than alive, everything alive moves to new slabs.
   */
  #compactIfWorthwhile(): void {
    if (this.#arena.slabbedBytes < tolerableGarbageBytes + 2 * this.#dataSizeBytes) return
    this.#arena = new Arena()
    const scan = this.#records.clone().scan()
    for (let record = scan.next(); record !== null; record = scan.next()) this.#store(record.recordId, record.document)
  }
}
