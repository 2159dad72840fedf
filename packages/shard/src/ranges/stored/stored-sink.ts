/** Server: migration_batch_inserter.cpp, MigrationDestinationManager::_applyMigrateOp. */
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { RangeSink, ReceivedClone, ReceivedMods, ReceivedRange, Size } from '../collection-ranges.js'
import { membershipOf } from '../key-range.js'

export class StoredSink implements RangeSink {
  readonly #node: NodeHost
  readonly #ns: string
  readonly #uuid: Uint8Array
  readonly #contains: (document: Uint8Array) => boolean

  constructor(node: NodeHost, { ns, uuid }: Collection, { range, shardKey }: ReceivedRange) {
    this.#node = node
    this.#ns = ns
    this.#uuid = uuid
    this.#contains = membershipOf(range, shardKey)
  }

  store({ documents, sizes }: ReceivedClone): Size {
    this.#checkStored(sizes)
    return this.#put(documents)
  }

  apply({ deleted, reloaded, sizes }: ReceivedMods): Size {
    this.#checkStored(sizes)
    this.#remove(deleted)
    return this.#put(reloaded)
  }

  #checkStored(sizes: Uint8Array | null): void {
    if (sizes !== null) throw new Error(`${this.#ns} is measured on the donor and not here`)
  }

  /** Replaces documents with the same `_id`. */
  #put(documents: readonly Uint8Array[]): Size {
    const collection = this.#collection()
    this.#node.requireRoom(
      documents.reduce((sum, { length }) => sum + length, 0),
      documents.length,
    )
    let bytes = 0
    for (const document of documents) {
      const id = findField(document, '_id')!
      const local = collection.findById(id)?.document
      if (local !== undefined && !this.#contains(local)) {
        throw new CommandError(
          16976,
          `cannot migrate chunk, local document ${formatDocument(local)} has same _id as cloned remote document ${formatDocument(document)}`,
        )
      }
      const op = local === undefined ? 'i' : 'u'
      this.#node.apply({ op, ns: this.#ns, uuid: this.#uuid, object: document, id, session: null, fromMigrate: true })
      bytes += document.length
    }
    return { documents: documents.length, bytes }
  }

  /** @param ids documents `{ _id }`; those outside of the range stay */
  #remove(ids: readonly Uint8Array[]): void {
    const collection = this.#collection()
    for (const each of ids) {
      const id = findField(each, '_id')!
      const local = collection.findById(id)?.document
      if (local === undefined || !this.#contains(local)) continue
      const object = new DocumentWriter(64).value('_id', id).finish()
      this.#node.apply({ op: 'd', ns: this.#ns, uuid: this.#uuid, object, id, session: null, fromMigrate: true })
    }
  }

  #collection(): Collection {
    const collection = this.#node.collection(this.#ns)
    if (collection === undefined || !sameBytes(collection.uuid, this.#uuid))
      throw new CommandError('NamespaceNotFound', `Collection ${this.#ns} was dropped in the middle of the migration`)
    return collection
  }
}
