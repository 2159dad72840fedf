/**
 * One index in memory: a copy-on-write tree from KeyStrings to record ids. Keys of a non-unique index end in their
 * record id, so equal ones lie side by side in order of insertion.
 */
import { asBuffer, CommandError, DocumentWriter, keyStringUpperBound, nullValue } from '@shardlab/bson'
import { compileFilter, formatDocument, type Filter, type FilterNode, type KeyPattern } from '@shardlab/query'
import { IndexCursor } from './index-cursor.js'
import { KeyGenerator, type DocumentKeys, type MultikeyPaths } from './index-keys.js'
import { parseIndexSpec, type IndexSpec } from './index-spec.js'
import type { RecordScan, StoredRecord } from './record-table.js'
import { newKeyTree, type KeyTree } from './tree.js'
import type { Index, KeyRange } from './types.js'

const recordIdLength = 6
const noKeys: DocumentKeys = { keys: [], arrays: null }

/** Filters of partial indexes cannot ask for the time or for chance. */
export const inertContext = { nowMs: 0, random: (): number => 0 }

export class MemoryIndex implements Index {
  #spec: IndexSpec
  readonly #generator: KeyGenerator
  readonly #filter: Filter | null
  readonly #tree: KeyTree
  #multikeyPaths: MultikeyPaths
  #keyBytes = 0

  private constructor(spec: IndexSpec, tree: KeyTree, generator: KeyGenerator, filter: Filter | null) {
    this.#spec = spec
    this.#tree = tree
    this.#generator = generator
    this.#filter = filter
    this.#multikeyPaths = spec.pattern.map(() => new Set<number>())
  }

  /** An empty index. */
  static create(specDocument: Uint8Array): MemoryIndex {
    const spec = parseIndexSpec(specDocument)
    const filter = spec.partialFilter === null ? null : compileFilter(spec.partialFilter, inertContext)
    return new MemoryIndex(spec, newKeyTree(), new KeyGenerator(spec.pattern, spec.sparse), filter)
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
    return this.#filter?.root ?? null
  }
  get multikeyPaths(): MultikeyPaths {
    return this.#multikeyPaths
  }
  get multikey(): boolean {
    return this.#multikeyPaths.some(({ size }) => size > 0)
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
    return this.#filter !== null && !this.#filter.matches(document) ? noKeys : this.#generator.generate(document)
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
    if (!this.unique) return
    for (const key of generated.keys) {
      const other = this.#tree.get(key)
      if (other !== undefined && other !== recordId) throw this.duplicate(ns, document, key)
    }
  }

  /** Adds the keys. The caller has checked uniqueness. */
  insert({ keys, arrays }: DocumentKeys, recordId: number): void {
    for (const key of keys) {
      this.#tree.set(this.unique ? key : withRecordId(key, recordId), recordId)
      this.#keyBytes += key.length
    }
    if (arrays !== null) this.#noteArrays(arrays)
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
      const { keys, arrays } = this.generate(record.document)
      for (const key of keys) found.push({ key, record })
      if (arrays !== null) this.#noteArrays(arrays)
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
  restoreMultikeyPaths(paths: MultikeyPaths): void {
    this.#multikeyPaths = paths.map((components) => new Set(components))
  }

  clone(): MemoryIndex {
    const copy = new MemoryIndex(this.#spec, this.#tree.clone(), this.#generator, this.#filter)
    copy.#multikeyPaths = this.#multikeyPaths
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

  /** What to throw when `document` may not have this key. */
  duplicate(ns: string, document: Uint8Array, key: string): CommandError {
    const tuple = this.#generator.tuplesOf(document).find((candidate) => this.#generator.encode(candidate) === key)!
    const values = new DocumentWriter()
    this.pattern.forEach(({ path }, i) => values.value(path, tuple[i] ?? nullValue))
    const keyValue = values.finish()
    const extra = new DocumentWriter().document('keyPattern', this.key).document('keyValue', keyValue).finish()
    return new CommandError(
      'DuplicateKey',
      `E11000 duplicate key error collection: ${ns} index: ${this.name} dup key: ${formatDocument(keyValue)}`,
      { extra },
    )
  }
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
