import { DocumentWriter, emptyDocument, findField, stringValue, type RawValue } from '@shardlab/bson'
import { buildIndex, createCollection, type NodeHost } from '@shardlab/node'
import { compileFilter, parseSort } from '@shardlab/query'
import { executePlan, planQuery, type Collection, type StoredRecord } from '@shardlab/storage'
import { documentsIn, type IndexRange } from './index-scan.js'
import { isWellFormed } from './well-formed.js'

export const byId = new DocumentWriter(32).int32('_id', 1).finish()

export function stringFilter(name: string, value: string): Uint8Array {
  return new DocumentWriter(64).string(name, value).finish()
}

interface CatalogIndex {
  /** All ascending. */
  readonly fields: readonly string[]
  readonly unique?: boolean
}

export class CatalogStore {
  readonly #node: NodeHost
  /** Names as values: a few names recur. */
  #names = new Map<string, RawValue>()
  /** Well-formed records by namespace and name, because the same documents are read repeatedly. */
  readonly #found = new Map<string, Map<string, StoredRecord>>()

  constructor(node: NodeHost) {
    this.#node = node
  }

  ensure(ns: string, options: Uint8Array, indexes: readonly CatalogIndex[]): void {
    if (this.#node.collection(ns) !== undefined) return
    const collection = createCollection(this.#node, ns, options)
    for (const { fields, unique } of indexes) {
      const spec = new DocumentWriter(128).int32('v', 2).startDocument('key')
      for (const field of fields) spec.int32(field, 1)
      spec.end().string('name', fields.map((field) => `${field}_1`).join('_'))
      if (unique === true) spec.bool('unique', true)
      buildIndex(this.#node, collection, spec.finish())
    }
  }

  get(ns: string, name: string): Uint8Array | null {
    const collection = this.#node.collection(ns)
    return collection === undefined ? null : this.#getNamed(collection, name)
  }

  getById(ns: string, id: RawValue): Uint8Array | null {
    const document = this.#node.collection(ns)?.findById(id)?.document
    return document !== undefined && isWellFormed(ns, document) ? document : null
  }

  /**
   * Whether the document is unchanged since it was read.
   * @param id a view into the document
   */
  isCurrent(ns: string, id: RawValue): boolean {
    const document = this.#node.collection(ns)?.findById(id)?.document
    // Compare positions: the view may be another one, and storage never overwrites a document in
    // place.
    return document !== undefined && document.buffer === id.bytes.buffer && document.byteOffset === id.bytes.byteOffset
  }

  /** An update stores a new document object, so an identical object has the same name. */
  #getNamed(collection: Collection, name: string): Uint8Array | null {
    const { ns } = collection
    let found = this.#found.get(ns)
    const known = found?.get(name)
    if (known !== undefined && collection.get(known.recordId)?.document === known.document) return known.document
    const record = collection.findById(this.nameValue(name))
    if (record === undefined || !isWellFormed(ns, record.document)) return null
    if (found === undefined || found.size >= namesKept) this.#found.set(ns, (found = new Map()))
    found.set(name, record)
    return record.document
  }

  find(ns: string, filter: Uint8Array = emptyDocument, sort?: Uint8Array): Uint8Array[] {
    return [...this.#scan(ns, filter, sort)]
  }

  first(ns: string, filter: Uint8Array, sort?: Uint8Array): Uint8Array | null {
    for (const document of this.#scan(ns, filter, sort)) return document
    return null
  }

  /** Ordered by `_id`. */
  all(ns: string): Uint8Array[] {
    return this.inIndex(ns, { fields: ['_id'], from: [], to: [] })
  }

  /**
   * In the order of the index.
   * @param limit null: all
   */
  inIndex(ns: string, range: IndexRange, limit: number | null = null): Uint8Array[] {
    const documents: Uint8Array[] = []
    const found = this.cursor(ns, range)
    for (let document = found(); document !== null && documents.length !== limit; document = found())
      if (isWellFormed(ns, document)) documents.push(document)
    return documents
  }

  /** {@link inIndex} one by one. The catalog must not be written before the end. */
  *each(ns: string, range: IndexRange): Generator<Uint8Array, void, void> {
    const found = this.cursor(ns, range)
    for (let document = found(); document !== null; document = found()) if (isWellFormed(ns, document)) yield document
  }

  firstInIndex(ns: string, range: IndexRange): Uint8Array | null {
    const found = this.cursor(ns, range)
    for (let document = found(); document !== null; document = found()) if (isWellFormed(ns, document)) return document
    return null
  }

  /**
   * {@link inIndex} with malformed documents. The collection must not be written before the end.
   * @returns the next document per call; null at the end
   */
  cursor(ns: string, range: IndexRange): () => Uint8Array | null {
    const collection = this.#node.collection(ns)
    return collection === undefined ? nothing : documentsIn(collection, range)
  }

  *#scan(ns: string, filter: Uint8Array, sort: Uint8Array | undefined): Generator<Uint8Array> {
    const collection = this.#node.collection(ns)
    if (collection === undefined || collection.count === 0) return
    const executor = executePlan(
      planQuery(collection, {
        filter: compileFilter(filter, this.#node.evaluation()),
        ...(sort === undefined ? {} : { sort: parseSort(sort) }),
      }),
      {},
    )
    for (let record = executor.next(); record !== null; record = executor.next()) {
      if (isWellFormed(ns, record.document)) yield record.document
    }
  }

  /** Inserts, or replaces by `_id`. The caller flushes the node. */
  put(ns: string, document: Uint8Array): void {
    const collection = this.#collection(ns)
    const id = idOf(document)
    this.#node.apply({
      op: collection.findById(id) === undefined ? 'i' : 'u',
      ns,
      uuid: collection.uuid,
      object: document,
      id,
      session: null,
    })
  }

  /** A document with this `_id` must exist. The caller flushes the node. */
  replace(ns: string, id: RawValue, document: Uint8Array): void {
    this.#node.apply({ op: 'u', ns, uuid: this.#collection(ns).uuid, object: document, id, session: null })
  }

  /** The `_id` must be new. The caller flushes the node. */
  insert(ns: string, document: Uint8Array): void {
    this.#node.apply({ op: 'i', ns, uuid: this.#collection(ns).uuid, object: document, id: null, session: null })
  }

  /** All documents, whose `_id`s must be new, or none. The caller flushes the node. */
  insertAll(ns: string, documents: Iterable<Uint8Array>): void {
    this.#node.insertAll(this.#collection(ns), documents)
  }

  remove(ns: string, document: Uint8Array): void {
    const collection = this.#collection(ns)
    const id = idOf(document)
    this.#node.apply({
      op: 'd',
      ns,
      uuid: collection.uuid,
      object: new DocumentWriter(64).value('_id', id).finish(),
      id,
      session: null,
    })
  }

  dropOverflow(ns: string): void {
    for (const { document } of this.#node.collection(ns)?.cappedOverflow() ?? []) this.remove(ns, document)
  }

  nameValue(name: string): RawValue {
    let value = this.#names.get(name)
    if (value === undefined) {
      if (this.#names.size >= namesKept) this.#names = new Map()
      this.#names.set(name, (value = stringValue(name)))
    }
    return value
  }

  /** Creates the collection again if a client has dropped it. */
  #collection(ns: string): Collection {
    return this.#node.collection(ns) ?? createCollection(this.#node, ns, emptyDocument)
  }
}

const namesKept = 4096

const nothing = (): null => null

function idOf(document: Uint8Array): RawValue {
  return findField(document, '_id')!
}
