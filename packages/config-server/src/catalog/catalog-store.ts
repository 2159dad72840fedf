/** The config.* collections as the config server reads and writes them: ordinary collections of its own storage. */
import { DocumentWriter, encode, findField, toRawValue, type RawValue } from '@shardlab/bson'
import { buildIndex, createCollection, type StorageNode } from '@shardlab/node'
import { compileFilter, parseSort } from '@shardlab/query'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'

export class CatalogStore {
  readonly #node: StorageNode

  constructor(node: StorageNode) {
    this.#node = node
  }

  /** Makes a collection with these indexes unless it is there. */
  ensure(ns: string, options: Uint8Array, indexes: readonly { readonly key: Record<string, 1 | -1>; readonly unique?: boolean }[]): void {
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
    return this.#collection(ns).findById(toRawValue(id))?.document ?? null
  }

  find(ns: string, filter: Record<string, unknown>, sort?: Record<string, 1 | -1>): Uint8Array[] {
    return this.findRaw(ns, encode(filter), sort)
  }

  findRaw(ns: string, filter: Uint8Array, sort?: Record<string, 1 | -1>): Uint8Array[] {
    const executor = executePlan(
      planQuery(this.#collection(ns), {
        filter: compileFilter(filter, this.#node.evaluation()),
        ...(sort === undefined ? {} : { sort: parseSort(encode(sort)) }),
      }),
      {},
    )
    const documents: Uint8Array[] = []
    for (let record = executor.next(); record !== null; record = executor.next()) documents.push(record.document)
    return documents
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

  remove(ns: string, document: Uint8Array): void {
    const collection = this.#collection(ns)
    const id = idOf(document)
    this.#node.apply({ op: 'd', ns, uuid: collection.uuid, object: new DocumentWriter(64).value('_id', id).finish(), id, session: null })
  }

  #collection(ns: string): Collection {
    const collection = this.#node.collection(ns)
    if (collection === undefined) throw new Error(`${ns} is missing from the catalog`)
    return collection
  }
}

function idOf(document: Uint8Array): RawValue {
  return findField(document, '_id')!
}
