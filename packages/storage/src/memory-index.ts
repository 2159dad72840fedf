/**
 * One index in memory: a copy-on-write tree from KeyStrings to record ids. Keys of a non-unique index end in their
 * record id, so equal ones lie side by side in order of insertion.
 *
 * Where nothing can be wrong with the keys of new documents, they are made when somebody reads the index, all at once: see decision 0019.
 */
import { documentAt, keyStringUpperBound } from '@shardlab/bson'
import type { FilterNode, KeyPattern } from '@shardlab/query'
import type { StringLabels } from './collation/string-labels.js'
import { duplicateKeyError } from './duplicate-key.js'
import type { IndexCursor } from './index-cursor.js'
import type { DocumentKeys, KeyTuple, MultikeyPaths } from './index-keys.js'
import { indexParts, type IndexParts, type RestoredIndex } from './index-parts.js'
import { parseIndexSpec, type IndexSpec } from './index-spec.js'
import { KnownArrays } from './known-arrays.js'
import { recordIdLength, withRecordId } from './record-key.js'
import type { RecordTable } from './record-table.js'
import { KeyTree } from './tree/key-tree.js'
import type { Index, IndexUsage, KeyRange } from './types.js'
import { hasSameTypes } from './typed-keys.js'
import { checkAgainst, checkPrepared, checkRepeated, makeKeys, mayWait, type WaitingKeys } from './waiting-keys.js'
import type { WildcardPaths } from './wildcard/wildcard-spec.js'

const noKeys: DocumentKeys = { keys: [], arrays: null }

/** Of a record whose document is replaced. */
export interface ReplacedKeys {
  readonly before: DocumentKeys
  readonly after: DocumentKeys
}

export class MemoryIndex implements Index {
  #spec: IndexSpec
  readonly #parts: IndexParts
  readonly #tree: KeyTree
  /** The collection's documents. */
  readonly #records: RecordTable
  /** Records below have their keys in the tree; those from it on have none there. */
  #covered = 0
  readonly #arrays: KnownArrays
  #keyBytes = 0

  private constructor(spec: IndexSpec, tree: KeyTree, records: RecordTable, parts: IndexParts, arrays: KnownArrays) {
    this.#spec = spec
    this.#tree = tree
    this.#records = records
    this.#parts = parts
    this.#arrays = arrays
  }

  /** An index on these records, {@link build} still to be called where there are any. `sinceMs`: from when on its uses are counted. */
  static create(specDocument: Uint8Array, records: RecordTable, sinceMs = 0): MemoryIndex {
    const spec = parseIndexSpec(specDocument)
    return new MemoryIndex(
      spec,
      new KeyTree(),
      records,
      indexParts(spec, sinceMs),
      KnownArrays.none(spec.pattern.length),
    )
  }

  get spec(): Uint8Array {
    return this.#spec.document
  }
  get name(): string {
    return this.#spec.name
  }
  get key(): Uint8Array {
    return this.#spec.key
  }
  get pattern(): KeyPattern {
    return this.#spec.pattern
  }
  get unique(): boolean {
    return this.#spec.unique
  }
  get sparse(): boolean {
    return this.#spec.sparse
  }
  get hidden(): boolean {
    return this.#spec.hidden
  }
  get partialFilter(): Uint8Array | null {
    return this.#spec.partialFilter
  }
  get partialRoot(): FilterNode | null {
    return this.#parts.filter?.root ?? null
  }
  get collation(): Uint8Array | null {
    return this.#spec.collation
  }
  get labels(): StringLabels | null {
    return this.#parts.labels
  }
  get wildcard(): WildcardPaths | null {
    return this.#spec.wildcard
  }
  get arrayPaths(): ReadonlySet<string> {
    return this.#arrays.paths
  }
  get usage(): IndexUsage {
    return this.#parts.usage
  }
  get multikeyPaths(): MultikeyPaths {
    return this.#arrays.components
  }
  get multikey(): boolean {
    return this.#arrays.some
  }
  get entries(): number {
    return this.#read().size
  }
  get sizeBytes(): number {
    const { entries } = this
    return this.#keyBytes + entries * 8
  }

  keysOf(document: Uint8Array): readonly string[] {
    return this.generate(document).keys
  }

  /** The keys and arrays of the document that begins here. */
  generate(bytes: Uint8Array, start = 0): DocumentKeys {
    const { filter, generator } = this.#parts
    return filter !== null && !filter.matches(documentAt(bytes, start)) ? noKeys : generator.generate(bytes, start)
  }

  tuplesOf(document: Uint8Array): KeyTuple[] {
    return this.#parts.generator.tuplesOf(document)
  }

  encode(tuple: KeyTuple): string {
    return this.#parts.generator.encode(tuple)
  }

  seek(range: KeyRange, reverse = false): IndexCursor {
    const { low, high } = range
    const from = low === undefined || range.lowInclusive !== false ? low : keyStringUpperBound(low)
    const to = high === undefined || range.highInclusive === false ? high : keyStringUpperBound(high)
    return this.scanKeys(from, to, reverse)
  }

  /** Cursor over `[from, to)`. */
  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor {
    return this.#read().scan(from, to, reverse)
  }

  /** The record under exactly this key of a unique index. */
  recordOf(key: string): number | undefined {
    return this.#read().get(key)
  }

  /**
   * The keys of a document that is about to be stored under a new id, to be given to {@link insert}; null: they can wait.
   * @throws CommandError what the document is refused with; DuplicateKey when another record has one of the keys
   */
  prepare(ns: string, document: Uint8Array, recordId: number): DocumentKeys | null {
    if (this.#mayWaitFor(document, recordId)) return null
    const generated = this.generate(document)
    for (const key of generated.keys)
      if (this.#isDuplicate(key, recordId)) throw duplicateKeyError(this, ns, document, key)
    return generated
  }

  /**
   * What changes when a record gets a new document, to be given to {@link replace}; null: nothing, or its keys can wait. Keys that the
   * record keeps are not looked for: an index that is to become unique may have them twice. There a key of another type of number is a new
   * one. Server: `prepareUpdate`, `setDifference` of index_access_method.cpp.
   * @throws CommandError as {@link prepare}
   */
  prepareReplacement(ns: string, previous: Uint8Array, document: Uint8Array, recordId: number): ReplacedKeys | null {
    if (this.#mayWaitFor(document, recordId)) return null
    const { filter, generator } = this.#parts
    if (filter === null && generator.isUnchanged(previous, document)) return null
    const after = this.generate(document)
    const before = this.generate(previous)
    const own = before.keys.length > 1 ? new Set(before.keys) : null
    const isSame = this.#spec.prepareUnique ? hasSameTypes(this, previous, document) : null
    const isKept = (key: string): boolean =>
      (own === null ? key === before.keys[0] : own.has(key)) && isSame?.(key) !== false
    const hasNoArrays = after.arrays === null && after.arrayPaths === undefined
    if (hasNoArrays && own === null && after.keys.length === 1 && isKept(after.keys[0]!)) return null
    for (const key of after.keys)
      if (!isKept(key) && this.#isDuplicate(key, recordId)) throw duplicateKeyError(this, ns, document, key)
    return { before, after }
  }

  /** Adds the keys of a new document, whose id is higher than all others. */
  insert(prepared: DocumentKeys | null, recordId: number): void {
    if (prepared === null) return
    this.#cover('', recordId)
    this.#add(prepared, recordId)
    this.#covered = recordId + 1
  }

  /** Removes the keys of a document. */
  remove(document: Uint8Array, recordId: number): void {
    if (recordId < this.#covered) this.#delete(this.generate(document), recordId)
  }

  /** Puts the keys of a record's new document in the place of the old ones. */
  replace({ before, after }: ReplacedKeys, recordId: number): void {
    this.#cover()
    this.#delete(before, recordId)
    this.#add(after, recordId)
  }

  /** Adds the keys of all records. @throws CommandError as {@link keysOf}, or DuplicateKey */
  build(ns: string): void {
    this.#cover(ns)
  }

  /** Of a checkpoint: its records are known to be what the index can hold, and what the paths of earlier documents were. */
  restore(ns: string, { multikeyPaths, arrayPaths }: RestoredIndex): void {
    if (!mayWait(this.#spec)) this.build(ns)
    this.#arrays.restore(multikeyPaths, arrayPaths)
  }

  /** Changes options that need no new build: hidden, expireAfterSeconds. */
  replaceSpec(specDocument: Uint8Array): void {
    this.#spec = parseIndexSpec(specDocument)
  }

  /** `records`: the clone's own, of the same contents. `apart`: its uses are counted apart, from none on. */
  clone(records: RecordTable, apart = false): MemoryIndex {
    // Or each clone would have to make them.
    this.#cover()
    const parts = this.#parts
    const usage = apart ? { ops: 0, sinceMs: parts.usage.sinceMs } : parts.usage
    const copy = new MemoryIndex(this.#spec, this.#tree.clone(), records, { ...parts, usage }, this.#arrays.clone())
    copy.#covered = this.#covered
    copy.#keyBytes = this.#keyBytes
    return copy
  }

  #read(): KeyTree {
    this.#cover()
    return this.#tree
  }

  /**
   * The keys of documents that have been stored all at once, from this record on, to be given to {@link addWaiting}; null: they can wait.
   * @throws CommandError what one of them is refused with; DuplicateKey when another one or an older record has one of the keys
   */
  waitingKeys(ns: string, firstRecordId: number): WaitingKeys | null {
    if (mayWait(this.#spec) && !this.#needsCheckFrom(firstRecordId)) return null
    // Those that are there may repeat.
    if (this.#spec.prepareUnique) this.#cover(ns, firstRecordId)
    const waiting = this.#waiting(ns, this.#records.end)
    if (waiting === null) return null
    if (this.unique) checkAgainst(this, this.#tree, ns, this.#records, waiting.run)
    else if (this.#spec.prepareUnique) checkPrepared(this, this.#tree, ns, this.#records, waiting.run)
    return waiting
  }

  addWaiting({ run, arrays, end }: WaitingKeys): void {
    for (const each of arrays) this.#arrays.note(each)
    const idBytes = this.unique ? 0 : recordIdLength
    for (const key of run.keys) this.#keyBytes += key.length - idBytes
    this.#tree.addRun(run)
    this.#covered = end
  }

  /** Makes the keys that have waited, of records below `end`. @throws CommandError DuplicateKey */
  #cover(ns = '', end = this.#records.end): void {
    const waiting = this.#waiting(ns, end)
    if (waiting !== null) this.addWaiting(waiting)
  }

  /** Null: none have waited. */
  #waiting(ns: string, end: number): WaitingKeys | null {
    if (this.#covered >= end) return null
    const waiting = makeKeys(this, this.#records, this.#covered, end)
    if (this.unique) checkRepeated(this, ns, this.#records, waiting.run)
    return waiting
  }

  #mayWaitFor(document: Uint8Array, recordId: number): boolean {
    return mayWait(this.#spec) && recordId >= this.#covered && !this.#parts.generator.needsCheck(document)
  }

  #needsCheckFrom(recordId: number): boolean {
    const scan = this.#records.scan(false, recordId - 1)
    while (scan.step()) if (this.#parts.generator.needsCheck(scan.bytes, scan.start)) return true
    return false
  }

  #isDuplicate(key: string, recordId: number): boolean {
    if (this.unique) {
      const other = this.recordOf(key)
      return other !== undefined && other !== recordId
    }
    if (!this.#spec.prepareUnique) return false
    // What is to become unique takes no new duplicates; those that are there may stay.
    const cursor = this.scanKeys(key, keyStringUpperBound(key), false)
    for (let other = cursor.next(); other >= 0; other = cursor.next()) if (other !== recordId) return true
    return false
  }

  #add(generated: DocumentKeys, recordId: number): void {
    for (const key of generated.keys) {
      this.#tree.add(this.unique ? key : withRecordId(key, recordId), recordId)
      this.#keyBytes += key.length
    }
    this.#arrays.note(generated)
  }

  #delete({ keys }: DocumentKeys, recordId: number): void {
    for (const key of keys) {
      if (!this.#tree.delete(this.unique ? key : withRecordId(key, recordId)))
        throw new Error(`index ${this.name} lacks a key of record ${recordId}`)
      this.#keyBytes -= key.length
    }
  }
}
