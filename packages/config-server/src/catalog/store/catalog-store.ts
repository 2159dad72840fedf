/** The config.* collections as the config server reads and writes them: ordinary collections of its own storage. */
import {
  DocumentWriter,
  emptyDocument,
  encode,
  findField,
  stringValue,
  toRawValue,
  type RawValue,
} from '@shardlab/bson'
import { buildIndex, createCollection, type StorageNode } from '@shardlab/node'
import { compileFilter, parseSort } from '@shardlab/query'
import { executePlan, planQuery, type Collection, type StoredRecord } from '@shardlab/storage'
import { documentsIn, type IndexRange } from './index-scan.js'
import { isWellFormed } from './well-formed.js'

export class CatalogStore {
  readonly #node: StorageNode
  /** What was asked for: mostly the same few. */
  #names = new Map<string, RawValue>()
  /** By namespace and name: well-formed records that were found. The same documents are wanted again and again. */
  readonly #found = new Map<string, Map<string, StoredRecord>>()

  constructor(node: StorageNode) {
    this.#node = node
  }

  /** Makes a collection with these indexes unless it is there. */
  ensure(
    ns: string,
    options: Uint8Array,
    indexes: readonly { readonly key: Record<string, 1 | -1>; readonly unique?: boolean }[],
  ): void {
    if (this.#node.collection(ns) !== undefined) return
    const collection = createCollection(this.#node, ns, options)
    for (const { key, unique } of indexes) {
      const name = Object.entries(key)
        .map(([field, direction]) => `${field}_${direction}`)
        .join('_')
      const spec = new DocumentWriter(128).int32('v', 2).document('key', encode(key)).string('name', name)
      if (unique === true) spec.bool('unique', true)
      buildIndex(this.#node, collection, spec.finish())
    }
  }

  get(ns: string, id: unknown): Uint8Array | null {
    const collection = this.#node.collection(ns)
    if (collection === undefined) return null
    if (typeof id === 'string') return this.#getNamed(collection, id)
    const document = collection.findById(toRawValue(id))?.document
    return document !== undefined && isWellFormed(ns, document) ? document : null
  }

  /** Is it still there as it was read? `id` lies in the document. */
  isCurrent(ns: string, id: RawValue): boolean {
    const document = this.#node.collection(ns)?.findById(id)?.document
    // Another view of it, perhaps; storage never writes where a document has been.
    return document !== undefined && document.buffer === id.bytes.buffer && document.byteOffset === id.bytes.byteOffset
  }

  /** A change puts another document in the place of the one that was there: where it is the same, so is its name. */
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

  find(ns: string, filter: Record<string, unknown>, sort?: Record<string, 1 | -1>): Uint8Array[] {
    return this.findRaw(ns, encode(filter), sort)
  }

  findRaw(ns: string, filter: Uint8Array, sort?: Record<string, 1 | -1>): Uint8Array[] {
    return [...this.#scan(ns, filter, sort)]
  }

  /** The first document of a find; null when there is none. */
  first(ns: string, filter: Uint8Array, sort?: Record<string, 1 | -1>): Uint8Array | null {
    for (const document of this.#scan(ns, filter, sort)) return document
    return null
  }

  /** All documents, by `_id`. */
  all(ns: string): Uint8Array[] {
    return this.inIndex(ns, { fields: ['_id'], from: [], to: [] })
  }

  /** Documents of a range of an index, in its order. */
  inIndex(ns: string, range: IndexRange): Uint8Array[] {
    const documents: Uint8Array[] = []
    const found = this.cursor(ns, range)
    for (let document = found(); document !== null; document = found())
      if (isWellFormed(ns, document)) documents.push(document)
    return documents
  }

  /** The first document of {@link inIndex}; null when there is none. */
  firstInIndex(ns: string, range: IndexRange): Uint8Array | null {
    const found = this.cursor(ns, range)
    for (let document = found(); document !== null; document = found()) if (isWellFormed(ns, document)) return document
    return null
  }

  /**
   * What {@link inIndex} goes through, what clients have spoiled as well. Nothing may be written before the end.
   * @returns the next one with each call, null behind the last one
   */
  cursor(ns: string, range: IndexRange): () => Uint8Array | null {
    const collection = this.#node.collection(ns)
    return collection === undefined ? nothing : documentsIn(collection, range)
  }

  /** Nothing may be written before the end. */
  *#scan(ns: string, filter: Uint8Array, sort: Record<string, 1 | -1> | undefined): Generator<Uint8Array> {
    const collection = this.#node.collection(ns)
    if (collection === undefined || collection.count === 0) return
    const executor = executePlan(
      planQuery(collection, {
        filter: compileFilter(filter, this.#node.evaluation()),
        ...(sort === undefined ? {} : { sort: parseSort(encode(sort)) }),
      }),
      {},
    )
    for (let record = executor.next(); record !== null; record = executor.next()) {
      if (isWellFormed(ns, record.document)) yield record.document
    }
  }

  /** Inserts or replaces by `_id`. {@link StorageNode.flush} follows. */
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

  /** Replaces the document with this `_id`, which is there. {@link StorageNode.flush} follows. */
  replace(ns: string, id: RawValue, document: Uint8Array): void {
    this.#node.apply({ op: 'u', ns, uuid: this.#collection(ns).uuid, object: document, id, session: null })
  }

  /** Inserts a document whose `_id` is new. {@link StorageNode.flush} follows. */
  insert(ns: string, document: Uint8Array): void {
    this.#node.apply({ op: 'i', ns, uuid: this.#collection(ns).uuid, object: document, id: null, session: null })
  }

  /** Inserts documents whose `_id`s are new, all or none of them. {@link StorageNode.flush} follows. */
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

  /** Removes what a capped collection has no place for after {@link put}. */
  dropOverflow(ns: string): void {
    for (const { document } of this.#node.collection(ns)?.cappedOverflow() ?? []) this.remove(ns, document)
  }

  /** A name as a value to look for: that of a collection, a shard … */
  nameValue(name: string): RawValue {
    let value = this.#names.get(name)
    if (value === undefined) {
      if (this.#names.size >= namesKept) this.#names = new Map()
      this.#names.set(name, (value = stringValue(name)))
    }
    return value
  }

  /** Clients may drop it: then it begins anew. */
  #collection(ns: string): Collection {
    return this.#node.collection(ns) ?? createCollection(this.#node, ns, emptyDocument)
  }
}

const namesKept = 4096

const nothing = (): null => null

function idOf(document: Uint8Array): RawValue {
  return findField(document, '_id')!
}
