/**
 * One index in memory: a copy-on-write tree from KeyStrings to record ids. Keys of a non-unique index end in their
 * record id, so equal ones lie side by side in order of insertion.
 */
import { asBuffer, CommandError, DocumentWriter, keyStringUpperBound, nullValue, stringValue, type RawValue } from '@shardlab/bson'
import { compileCollation, compileFilter, formatDocument, type Filter, type FilterNode, type KeyPattern } from '@shardlab/query'
import { isCollatable, labelled } from './collation/labelled.js'
import { StringLabels } from './collation/string-labels.js'
import { IndexCursor } from './index-cursor.js'
import { KeyGenerator, type DocumentKeys, type IndexKeyMaker, type KeyTuple, type MultikeyPaths } from './index-keys.js'
import { parseIndexSpec, type IndexSpec } from './index-spec.js'
import type { RecordScan, StoredRecord } from './record-table.js'
import { newKeyTree, type KeyTree } from './tree.js'
import type { Index, IndexUsage, KeyRange } from './types.js'
import { WildcardKeyGenerator } from './wildcard/wildcard-keys.js'
import type { WildcardPaths } from './wildcard/wildcard-spec.js'

const recordIdLength = 6
const noKeys: DocumentKeys = { keys: [], arrays: null }

const noPaths: ReadonlySet<string> = new Set()

/** What an index shares with its clones. */
interface IndexParts {
  readonly generator: IndexKeyMaker
  readonly filter: Filter | null
  /** Null without a collation. */
  readonly labels: StringLabels | null
  readonly usage: IndexUsage
}

/** Filters of partial indexes cannot ask for the time or for chance. */
export const inertContext = { nowMs: 0, random: (): number => 0 }

/** What an index brings back from a checkpoint: the rest is in the documents. */
export interface RestoredIndex {
  readonly spec: Uint8Array
  readonly multikeyPaths: MultikeyPaths
  readonly arrayPaths: readonly string[]
}

export class MemoryIndex implements Index {
  #spec: IndexSpec
  readonly #parts: IndexParts
  readonly #tree: KeyTree
  #multikeyPaths: MultikeyPaths
  #arrayPaths: ReadonlySet<string> = noPaths
  #keyBytes = 0

  private constructor(spec: IndexSpec, tree: KeyTree, parts: IndexParts) {
    this.#spec = spec
    this.#tree = tree
    this.#parts = parts
    this.#multikeyPaths = spec.pattern.map(() => new Set<number>())
  }

  /** An empty index. `sinceMs`: from when on its uses are counted. */
  static create(specDocument: Uint8Array, sinceMs = 0): MemoryIndex {
    const spec = parseIndexSpec(specDocument)
    const strings = spec.collation === null ? undefined : compileCollation(spec.collation)?.compare
    const filter =
      spec.partialFilter === null
        ? null
        : compileFilter(spec.partialFilter, strings === undefined ? inertContext : { ...inertContext, strings })
    const labels = strings === undefined ? null : new StringLabels(strings)
    const generator =
      spec.wildcard === null ? new KeyGenerator(spec.pattern, spec.sparse, labels) : new WildcardKeyGenerator(spec.wildcard, labels)
    return new MemoryIndex(spec, newKeyTree(), { generator, filter, labels, usage: { ops: 0, sinceMs } })
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
    return this.#arrayPaths
  }
  get usage(): IndexUsage {
    return this.#parts.usage
  }
  get multikeyPaths(): MultikeyPaths {
    return this.#multikeyPaths
  }
  get multikey(): boolean {
    return this.#arrayPaths.size > 0 || this.#multikeyPaths.some(({ size }) => size > 0)
  }
  get entries(): number {
    return this.#tree.size
  }
  get sizeBytes(): number {
    return this.#keyBytes + this.entries * 8
  }

  keysOf(document: Uint8Array): readonly string[] {
    return this.generate(document).keys
  }

  /** The document's keys and arrays, to be given to `insert` or `remove`. */
  generate(document: Uint8Array): DocumentKeys {
    const { filter, generator } = this.#parts
    return filter !== null && !filter.matches(document) ? noKeys : generator.generate(document)
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
    return new IndexCursor(this.#tree, from, to, reverse)
  }

  /** Cursor over `[from, to)`. */
  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor {
    return new IndexCursor(this.#tree, from, to, reverse)
  }

  /** The record under exactly this key of a unique index. */
  recordOf(key: string): number | undefined {
    return this.#tree.get(key)
  }

  /** @throws CommandError DuplicateKey when another record than `recordId` has one of the keys of `document`. */
  checkUnique(ns: string, document: Uint8Array, generated: DocumentKeys, recordId: number): void {
    if (!this.unique) {
      if (this.#spec.prepareUnique) this.#checkPreparedUnique(ns, document, generated, recordId)
      return
    }
    for (const key of generated.keys) {
      const other = this.#tree.get(key)
      if (other !== undefined && other !== recordId) throw this.duplicate(ns, document, key)
    }
  }

  /** What is to become unique takes no new duplicates; those that are there may stay. */
  #checkPreparedUnique(ns: string, document: Uint8Array, { keys }: DocumentKeys, recordId: number): void {
    for (const key of keys) {
      const cursor = this.scanKeys(key, keyStringUpperBound(key), false)
      for (let other = cursor.next(); other >= 0; other = cursor.next()) if (other !== recordId) throw this.duplicate(ns, document, key)
    }
  }

  /** Adds the keys. The caller has checked uniqueness. */
  insert({ keys, arrays, arrayPaths }: DocumentKeys, recordId: number): void {
    for (const key of keys) {
      this.#tree.set(this.unique ? key : withRecordId(key, recordId), recordId)
      this.#keyBytes += key.length
    }
    if (arrays !== null) this.#noteArrays(arrays)
    if (arrayPaths !== undefined) this.#noteArrayPaths(arrayPaths)
  }

  remove({ keys }: DocumentKeys, recordId: number): void {
    for (const key of keys) {
      if (!this.#tree.delete(this.unique ? key : withRecordId(key, recordId)))
        throw new Error(`index ${this.name} lacks a key of record ${recordId}`)
      this.#keyBytes -= key.length
    }
  }

  /** Puts the keys of a new version of a record in the place of the old ones. */
  replace(before: DocumentKeys, after: DocumentKeys, recordId: number): void {
    if (before.keys.length === 1 && after.keys.length === 1 && before.keys[0] === after.keys[0]) {
      if (after.arrays !== null) this.#noteArrays(after.arrays)
      return
    }
    this.remove(before, recordId)
    this.insert(after, recordId)
  }

  /** Builds the index from all records. @throws CommandError as {@link keysOf}, or DuplicateKey */
  build(ns: string, records: RecordScan): void {
    const found: { key: string; record: StoredRecord }[] = []
    for (let record = records.next(); record !== null; record = records.next()) {
      const { keys, arrays, arrayPaths } = this.generate(record.document)
      for (const key of keys) found.push({ key, record })
      if (arrays !== null) this.#noteArrays(arrays)
      if (arrayPaths !== undefined) this.#noteArrayPaths(arrayPaths)
    }
    found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.record.recordId - b.record.recordId))
    for (let i = 0; i < found.length; i++) {
      const { key, record } = found[i]!
      if (this.unique && i > 0 && found[i - 1]!.key === key) throw this.duplicate(ns, record.document, key)
      this.#tree.set(this.unique ? key : withRecordId(key, record.recordId), record.recordId)
      this.#keyBytes += key.length
    }
  }

  /** Changes options that need no new build: hidden, expireAfterSeconds. */
  replaceSpec(specDocument: Uint8Array): void {
    this.#spec = parseIndexSpec(specDocument)
  }

  /** What the paths of earlier documents were; for an index that is rebuilt from a checkpoint. */
  restoreMultikeyPaths(paths: MultikeyPaths, arrayPaths: readonly string[]): void {
    this.#multikeyPaths = paths.map((components) => new Set(components))
    this.#arrayPaths = new Set(arrayPaths)
  }

  /** `apart`: its uses are counted apart, from none on. */
  clone(apart = false): MemoryIndex {
    const parts = this.#parts
    const usage = apart ? { ops: 0, sinceMs: parts.usage.sinceMs } : parts.usage
    const copy = new MemoryIndex(this.#spec, this.#tree.clone(), { ...parts, usage })
    copy.#multikeyPaths = this.#multikeyPaths
    copy.#arrayPaths = this.#arrayPaths
    copy.#keyBytes = this.#keyBytes
    return copy
  }

  #noteArrays(arrays: MultikeyPaths): void {
    const known = this.#multikeyPaths
    // Clones share the sets: they are replaced, never added to.
    this.#multikeyPaths = known.map((components, i) => {
      const isNews = [...arrays[i]!].some((component) => !components.has(component))
      return isNews ? new Set([...components, ...arrays[i]!]) : components
    })
  }

  #noteArrayPaths(paths: ReadonlySet<string>): void {
    for (const path of paths) {
      if (this.#arrayPaths.has(path)) continue
      this.#arrayPaths = new Set([...this.#arrayPaths, ...paths])
      return
    }
  }

  /** What to throw when `document` may not have this key. Server: duplicate_key_error_info.cpp. */
  duplicate(ns: string, document: Uint8Array, key: string): CommandError {
    const tuple = this.tuplesOf(document).find((candidate) => this.encode(candidate) === key)!
    const values = new DocumentWriter()
    const shown = new DocumentWriter()
    this.pattern.forEach(({ path }, i) => {
      const value = tuple[i] ?? nullValue
      values.value(path, value)
      shown.value(path, this.labels === null || !isCollatable(value.type) ? value : stringValue(collationKeyText(value, this.labels)))
    })
    const extra = new DocumentWriter().document('keyPattern', this.key).document('keyValue', values.finish())
    if (this.collation !== null) extra.document('collation', this.collation)
    const collation = this.collation === null ? '' : ` collation: ${formatDocument(this.collation)}`
    return new CommandError(
      'DuplicateKey',
      `E11000 duplicate key error collection: ${ns} index: ${this.name}${collation} dup key: ${formatDocument(shown.finish())}`,
      { extra: extra.finish() },
    )
  }
}

/** How the key of a string shows in messages and explain. */
function collationKeyText(value: RawValue, labels: StringLabels): string {
  const label = labelled(value, labels)
  return `CollationKey(0x${Buffer.from(label.bytes.subarray(label.start + 4, label.end - 1)).toString('hex')})`
}

let scratch = asBuffer(Buffer.allocUnsafeSlow(1024))

/** Appends the id in six bytes, the highest first. The string is made flat: `+` would make every comparison slower. */
function withRecordId(key: string, recordId: number): string {
  const length = key.length + recordIdLength
  if (length > scratch.length) scratch = asBuffer(Buffer.allocUnsafeSlow(length * 2))
  scratch.latin1Write(key, 0, key.length)
  scratch.writeUIntBE(recordId, key.length, recordIdLength)
  return scratch.latin1Slice(0, length)
}
