/**
 * A copy-on-write tree from KeyStrings to record ids. Keys of a non-unique index end in their
 * record id, so equal keys are in order of insertion.
 *
 * If the keys of new documents cannot be invalid, the index defers them and adds them in one run
 * when it is read: see decision 0019.
 */
import { documentAt, keyStringUpperBound } from '@shardlab/bson'
import type { FilterNode, KeyPattern } from '@shardlab/query'
import type { StringLabels } from '../collation/string-labels.js'
import { duplicateKeyError } from './duplicate-key.js'
import type { IndexCursor } from '../tree/index-cursor.js'
import type { DocumentKeys, KeyTuple, MultikeyPaths } from './index-keys.js'
import { indexParts, type IndexParts, type RestoredIndex } from './index-parts.js'
import { parseIndexSpec, type IndexSpec } from '../index-specs/index-spec.js'
import { MultikeyMetadata } from './multikey-metadata.js'
import { recordIdLength, withRecordId } from './record-key.js'
import type { RecordTable } from '../records/record-table.js'
import { KeyTree } from '../tree/key-tree.js'
import type { Index, IndexUsage, KeyRange } from '../engine/types.js'
import { compareKeyTypes } from './typed-keys.js'
import {
  checkNotInTree,
  checkPrepareUnique,
  checkNotRepeated,
  generateKeys,
  mayDefer,
  type DeferredKeys,
} from './deferred-keys.js'
import type { WildcardPaths } from '../wildcard/wildcard-spec.js'

const noKeys: DocumentKeys = { keys: [], arrays: null }

export interface ReplacedKeys {
  readonly before: DocumentKeys
  readonly after: DocumentKeys
}

export class MemoryIndex implements Index {
  #spec: IndexSpec
  readonly #parts: IndexParts
  readonly #tree: KeyTree
  readonly #records: RecordTable
  /** The tree contains the keys of all records below this id and of none at or above it. */
  #indexedEnd = 0
  readonly #multikeyMetadata: MultikeyMetadata
  #keyBytes = 0

  private constructor(
    spec: IndexSpec,
    tree: KeyTree,
    records: RecordTable,
    parts: IndexParts,
    arrays: MultikeyMetadata,
  ) {
    this.#spec = spec
    this.#tree = tree
    this.#records = records
    this.#parts = parts
    this.#multikeyMetadata = arrays
  }

  /**
   * If there are records, call {@link build}.
   * @param sinceMs when counting the index's uses began
   */
  static create(specDocument: Uint8Array, records: RecordTable, sinceMs = 0): MemoryIndex {
    const spec = parseIndexSpec(specDocument)
    return new MemoryIndex(
      spec,
      new KeyTree(),
      records,
      indexParts(spec, sinceMs),
      MultikeyMetadata.empty(spec.pattern.length),
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
    return this.#multikeyMetadata.paths
  }
  get usage(): IndexUsage {
    return this.#parts.usage
  }
  get multikeyPaths(): MultikeyPaths {
    return this.#multikeyMetadata.components
  }
  get multikey(): boolean {
    return this.#multikeyMetadata.isMultikey
  }
  get entries(): number {
    return this.#currentTree().size
  }
  get sizeBytes(): number {
    const { entries } = this
    return this.#keyBytes + entries * 8
  }

  keysOf(document: Uint8Array): readonly string[] {
    return this.generate(document).keys
  }

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

  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor {
    return this.#currentTree().scan(from, to, reverse)
  }

  /** For a unique index. */
  recordOf(key: string): number | undefined {
    return this.#currentTree().get(key)
  }

  /**
   * The keys of a new document, as the argument of {@link insert}; null: they are deferred.
   * @throws CommandError DuplicateKey if another record has one of the keys, and the errors of
   *   invalid keys
   */
  prepare(ns: string, document: Uint8Array, recordId: number): DocumentKeys | null {
    if (this.#mayDefer(document, recordId)) return null
    const generated = this.generate(document)
    for (const key of generated.keys)
      if (this.#isDuplicate(key, recordId)) throw duplicateKeyError(this, ns, document, key)
    return generated
  }

  /**
   * The change when a document is replaced, as the argument of {@link replace}. Null: no change, or
   * the keys are deferred. Keys that the record keeps are not checked for duplicates: with
   * `prepareUnique` an index may contain duplicates. A key of another number type counts as new
   * there. Server: `prepareUpdate`, `setDifference` of index_access_method.cpp.
   * @throws CommandError as {@link prepare}
   */
  prepareReplacement(ns: string, previous: Uint8Array, document: Uint8Array, recordId: number): ReplacedKeys | null {
    if (this.#mayDefer(document, recordId)) return null
    const { filter, generator } = this.#parts
    if (filter === null && generator.isUnchanged(previous, document)) return null
    const after = this.generate(document)
    const before = this.generate(previous)
    const own = before.keys.length > 1 ? new Set(before.keys) : null
    const isSame = this.#spec.prepareUnique ? compareKeyTypes(this, previous, document) : null
    const isKept = (key: string): boolean =>
      (own === null ? key === before.keys[0] : own.has(key)) && isSame?.(key) !== false
    const hasNoArrays = after.arrays === null && after.arrayPaths === undefined
    if (hasNoArrays && own === null && after.keys.length === 1 && isKept(after.keys[0]!)) return null
    for (const key of after.keys)
      if (!isKept(key) && this.#isDuplicate(key, recordId)) throw duplicateKeyError(this, ns, document, key)
    return { before, after }
  }

  /** @param recordId higher than all others */
  insert(prepared: DocumentKeys | null, recordId: number): void {
    if (prepared === null) return
    this.#catchUp('', recordId)
    this.#add(prepared, recordId)
    this.#indexedEnd = recordId + 1
  }

  remove(document: Uint8Array, recordId: number): void {
    if (recordId < this.#indexedEnd) this.#delete(this.generate(document), recordId)
  }

  replace({ before, after }: ReplacedKeys, recordId: number): void {
    this.#catchUp()
    this.#delete(before, recordId)
    this.#add(after, recordId)
  }

  /** @throws CommandError DuplicateKey, or as {@link keysOf} */
  build(ns: string): void {
    this.#catchUp(ns)
  }

  /** How many records may have deferred keys. */
  get recordsBehind(): number {
    return this.#records.end - this.#indexedEnd
  }

  /**
   * Adds the deferred keys of some records.
   * @param isChecked whether the keys are known to be valid and different
   * @returns how many keys, or at least 1; 0: no records are left
   * @throws CommandError DuplicateKey, or as {@link keysOf}
   */
  catchUpSome(ns: string, keysMost: number, isChecked = false): number {
    const { end } = this.#records
    if (this.#indexedEnd >= end) return 0
    const deferred = generateKeys(this, this.#records, this.#indexedEnd, end, keysMost)
    if (this.unique && !isChecked) {
      checkNotRepeated(this, ns, this.#records, deferred.run)
      checkNotInTree(this, this.#tree, ns, this.#records, deferred.run)
    }
    this.addDeferred(deferred)
    return Math.max(1, deferred.run.keys.length)
  }

  /**
   * The keys of a record that was removed.
   * @throws CommandError as {@link catchUpSome}
   */
  addAgain(ns: string, document: Uint8Array, recordId: number): void {
    const generated = this.generate(document)
    if (this.unique)
      for (const key of generated.keys)
        if (this.#tree.get(key) !== undefined) throw duplicateKeyError(this, ns, document, key)
    this.#add(generated, recordId)
  }

  /** The keys of a record that was removed and is stored again. */
  addRemoved(document: Uint8Array, recordId: number): void {
    if (recordId < this.#indexedEnd) this.#add(this.generate(document), recordId)
  }

  /**
   * Restores an index from a checkpoint: the keys of its records are known to be valid, and its
   * arrays include those of earlier documents.
   */
  restore(ns: string, { multikeyPaths, arrayPaths }: RestoredIndex): void {
    if (!mayDefer(this.#spec)) this.build(ns)
    this.#multikeyMetadata.restore(multikeyPaths, arrayPaths)
  }

  replaceSpec(specDocument: Uint8Array): void {
    this.#spec = parseIndexSpec(specDocument)
  }

  /**
   * @param records the clone's own table, with the same contents
   * @param separateUsage the clone counts its uses separately, starting at 0
   * @param isSeldomRead deferred keys stay deferred; the clone adds its own when it is read
   */
  clone(records: RecordTable, separateUsage = false, isSeldomRead = false): MemoryIndex {
    // Otherwise every clone would generate the deferred keys.
    if (!isSeldomRead) this.#catchUp()
    const parts = this.#parts
    const usage = separateUsage ? { ops: 0, sinceMs: parts.usage.sinceMs } : parts.usage
    const copy = new MemoryIndex(
      this.#spec,
      this.#tree.clone(),
      records,
      { ...parts, usage },
      this.#multikeyMetadata.clone(),
    )
    copy.#indexedEnd = this.#indexedEnd
    copy.#keyBytes = this.#keyBytes
    return copy
  }

  #currentTree(): KeyTree {
    this.#catchUp()
    return this.#tree
  }

  /**
   * The keys of the stored records from `firstRecordId`, as the argument of {@link addDeferred};
   * null: they are deferred.
   * @throws CommandError DuplicateKey if another of these records or an older one has one of the
   *   keys, and the errors of invalid keys
   */
  keysToAdd(ns: string, firstRecordId: number): DeferredKeys | null {
    if (mayDefer(this.#spec) && !this.#needsCheckFrom(firstRecordId)) return null
    // Add older keys first, unchecked: they may contain duplicates.
    if (this.#spec.prepareUnique) this.#catchUp(ns, firstRecordId)
    const deferred = this.#deferred(ns, this.#records.end)
    if (deferred === null) return null
    if (this.unique) checkNotInTree(this, this.#tree, ns, this.#records, deferred.run)
    else if (this.#spec.prepareUnique) checkPrepareUnique(this, this.#tree, ns, this.#records, deferred.run)
    return deferred
  }

  addDeferred({ run, arrays, end }: DeferredKeys): void {
    for (const each of arrays) this.#multikeyMetadata.record(each)
    const idBytes = this.unique ? 0 : recordIdLength
    for (const key of run.keys) this.#keyBytes += key.length - idBytes
    this.#tree.addRun(run)
    this.#indexedEnd = end
  }

  /**
   * Adds the deferred keys of records below `end`.
   * @throws CommandError DuplicateKey
   */
  #catchUp(ns = '', end = this.#records.end): void {
    const deferred = this.#deferred(ns, end)
    if (deferred !== null) this.addDeferred(deferred)
  }

  #deferred(ns: string, end: number): DeferredKeys | null {
    if (this.#indexedEnd >= end) return null
    const deferred = generateKeys(this, this.#records, this.#indexedEnd, end)
    if (this.unique) checkNotRepeated(this, ns, this.#records, deferred.run)
    return deferred
  }

  #mayDefer(document: Uint8Array, recordId: number): boolean {
    return mayDefer(this.#spec) && recordId >= this.#indexedEnd && !this.#parts.generator.needsCheck(document)
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
    const cursor = this.scanKeys(key, keyStringUpperBound(key), false)
    for (let other = cursor.next(); other >= 0; other = cursor.next()) if (other !== recordId) return true
    return false
  }

  #add(generated: DocumentKeys, recordId: number): void {
    for (const key of generated.keys) {
      this.#tree.add(this.unique ? key : withRecordId(key, recordId), recordId)
      this.#keyBytes += key.length
    }
    this.#multikeyMetadata.record(generated)
  }

  #delete({ keys }: DocumentKeys, recordId: number): void {
    for (const key of keys) {
      if (!this.#tree.delete(this.unique ? key : withRecordId(key, recordId)))
        throw new Error(`index ${this.name} lacks a key of record ${recordId}`)
      this.#keyBytes -= key.length
    }
  }
}
