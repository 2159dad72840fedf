/** One collection in memory: records, the `_id` map and the indexes, kept in step by the three changes below. */
import { CommandError, encodeKeyString, findField, type RawValue } from '@shardlab/bson'
import { Arena } from './arena.js'
import { cappedLimitsOf, overflowOf } from './capped.js'
import { idOf } from './document-id.js'
import { duplicateKeyError } from './duplicate-key.js'
import type { DocumentKeys } from './index-keys.js'
import { idIndexSpec } from './index-spec.js'
import { MemoryIndex, type RestoredIndex } from './memory-index.js'
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
  /** Live documents by `_id`; null in snapshots and young clones, which look into the index. */
  #byId: Map<string, StoredRecord> | null = null
  #lookupsWithoutMap = 0
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
    const collection = new MemoryCollection(ns, uuid.slice(), options.slice(), records, indexes, false)
    collection.#byId = new Map()
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
    return this.#findByKey(this.#keyOf(id))
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
    const key = this.#keyOf(idOf(document))
    const recordId = this.#nextRecordId
    const generated = this.#generateKeys(document, key, recordId)
    const record = this.#store(recordId, document)
    this.#nextRecordId++
    this.#dataSizeBytes += document.length
    for (let i = 0; i < generated.length; i++) this.#indexes[i]!.insert(generated[i]!, recordId)
    this.#byId?.set(key, record)
    return { record, preImage: null }
  }

  /** Replaces the document with this `_id`. @throws as {@link insert} */
  update(id: RawValue, document: Uint8Array): ApplyResult {
    this.#beforeChange()
    const key = this.#keyOf(id)
    const previous = this.#mustFind(key)
    const { recordId } = previous
    if (this.#keyOf(idOf(document)) !== key) throw new Error(`an update of ${this.#ns} changes _id`)
    const after = this.#generateKeys(document, key, recordId)
    for (let i = 1; i < after.length; i++) this.#indexes[i]!.replace(previous.document, after[i]!, recordId)
    const record = this.#store(recordId, document)
    this.#dataSizeBytes += document.length - previous.document.length
    this.#byId?.set(key, record)
    this.#compactIfWorthwhile()
    return { record, preImage: previous.document }
  }

  /** Removes the document with this `_id`. */
  delete(id: RawValue): ApplyResult {
    this.#beforeChange()
    const key = this.#keyOf(id)
    const { recordId, document } = this.#mustFind(key)
    this.#idIndex.removeKey(key, recordId)
    for (let i = 1; i < this.#indexes.length; i++) this.#indexes[i]!.remove(document, recordId)
    this.#records.delete(recordId)
    this.#byId?.delete(key)
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
    this.#options = options.slice()
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
    this.#buildMap()
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

  #findByKey(key: string): StoredRecord | undefined {
    if (this.#byId !== null) return this.#byId.get(key)
    // A clone that is read a lot pays for its map once; a snapshot that is read once does not.
    if (!this.#frozen && ++this.#lookupsWithoutMap > this.count) this.#buildMap()
    const recordId = this.#idIndex.recordOf(key)
    return recordId === undefined ? undefined : this.#records.get(recordId)
  }

  #mustFind(key: string): StoredRecord {
    const record = this.#findByKey(key)
    if (record === undefined) throw new Error(`the log changes a document that ${this.#ns} does not have`)
    return record
  }

  /** The keys for all indexes that must have them now, checked: after this nothing can fail. */
  #generateKeys(document: Uint8Array, idKey: string, recordId: number): (DocumentKeys | null)[] {
    const other = this.#findByKey(idKey)
    if (other !== undefined && other.recordId !== recordId) throw duplicateKeyError(this.#idIndex, this.#ns, document, idKey)
    const generated: (DocumentKeys | null)[] = [this.#collated ? { keys: [idKey], arrays: null } : null]
    for (let i = 1; i < this.#indexes.length; i++) generated.push(this.#indexes[i]!.prepare(this.#ns, document, recordId))
    return generated
  }

  #store(recordId: number, document: Uint8Array): StoredRecord {
    const record: StoredRecord = { recordId, document: this.#arena.store(document) }
    this.#records.set(record)
    return record
  }

  #buildMap(): void {
    const map = new Map<string, StoredRecord>()
    const scan = this.#records.scan()
    for (let record = scan.next(); record !== null; record = scan.next()) map.set(this.#keyOf(idOf(record.document)), record)
    this.#byId = map
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
    for (let record = scan.next(); record !== null; record = scan.next()) {
      const moved = this.#store(record.recordId, record.document)
      this.#byId?.set(this.#keyOf(idOf(moved.document)), moved)
    }
  }
}
