/**
 * Records of operations in progress, in collections of the shard's own `config` database.
 * Server: persistent_task_store.h.
 */
import { DocumentWriter, emptyDocument, findField, type RawValue } from '@shardlab/bson'
import { createCollection, type NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'

export class RecordStore {
  readonly #node: NodeHost
  readonly #ns: string

  constructor(node: NodeHost, ns: string) {
    this.#node = node
    this.#ns = ns
  }

  /** In insertion order. */
  all(): Uint8Array[] {
    const collection = this.#node.collection(this.#ns)
    if (collection === undefined || collection.count === 0) return []
    const documents: Uint8Array[] = []
    const scan = collection.scan()
    for (let record = scan.next(); record !== null; record = scan.next()) documents.push(record.document)
    return documents
  }

  get(id: RawValue): Uint8Array | undefined {
    return this.#node.collection(this.#ns)?.findById(id)?.document
  }

  /** Inserts or replaces by `_id`. The caller flushes the node. */
  put(document: Uint8Array): void {
    const collection = this.#node.collection(this.#ns) ?? createCollection(this.#node, this.#ns, emptyDocument)
    const id = findField(document, '_id')!
    // Usually it is the only record.
    const isNew = collection.count === 0 || collection.findById(id) === undefined
    this.#apply(collection, isNew ? 'i' : 'u', document, id)
  }

  /** Replaces the document, unless `changed` returns undefined. The caller flushes the node. */
  change(id: RawValue, changed: (document: Uint8Array) => Uint8Array | undefined): void {
    const collection = this.#node.collection(this.#ns)
    const document = collection?.findById(id)?.document
    const replacement = document === undefined ? undefined : changed(document)
    if (replacement !== undefined) this.#apply(collection!, 'u', replacement, id)
  }

  /** No error when it is not there. The caller flushes the node. */
  remove(id: RawValue): void {
    const collection = this.#node.collection(this.#ns)
    if (collection?.findById(id) === undefined) return
    this.#apply(collection, 'd', new DocumentWriter(64).value('_id', id).finish(), id)
  }

  #apply({ uuid }: Collection, op: 'i' | 'u' | 'd', object: Uint8Array, id: RawValue): void {
    this.#node.apply({ op, ns: this.#ns, uuid, object, id, session: null })
  }
}

export interface RecordShape<R, Key> {
  readonly ns: string
  readonly id: (key: Key) => RawValue
  readonly write: (record: R) => Uint8Array
  /** Undefined: a record of another kind, or a document of a client. */
  readonly read: (document: Uint8Array) => R | undefined
}

export class Records<R extends object, Key> {
  protected readonly store: RecordStore
  readonly #shape: RecordShape<R, Key>

  constructor(node: NodeHost, shape: RecordShape<R, Key>) {
    this.store = new RecordStore(node, shape.ns)
    this.#shape = shape
  }

  all(): R[] {
    return this.store.all().flatMap((document) => this.#shape.read(document) ?? [])
  }

  get(key: Key): R | undefined {
    const document = this.store.get(this.#shape.id(key))
    return document === undefined ? undefined : this.#shape.read(document)
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined
  }

  /** Inserts or replaces. The caller flushes the node. */
  put(record: R): void {
    this.store.put(this.#shape.write(record))
  }

  /**
   * Replaces a record, unless `changed` returns the same object. The caller flushes the node.
   * @returns the current record; undefined: there is none
   */
  change(key: Key, changed: (record: R) => R): R | undefined {
    let now: R | undefined
    this.store.change(this.#shape.id(key), (document) => {
      const before = this.#shape.read(document)
      now = before === undefined ? undefined : changed(before)
      return now === before ? undefined : this.#shape.write(now!)
    })
    return now
  }

  /** No error when it is not there. The caller flushes the node. */
  remove(key: Key): void {
    this.store.remove(this.#shape.id(key))
  }
}
