/** Server: migration_batch_inserter.cpp, MigrationDestinationManager::_applyMigrateOp. */
import type { CancelSignal } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { inTurns, type NodeHost, type SteppedWork } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { RangeSink, ReceivedClone, ReceivedMods, ReceivedRange, Size } from '../collection-ranges.js'
import { membershipOf } from '../key-range.js'

export class StoredSink implements RangeSink {
  readonly #node: NodeHost
  readonly #ns: string
  readonly #uuid: Uint8Array
  readonly #contains: (document: Uint8Array) => boolean
  readonly #stopping: CancelSignal

  constructor(node: NodeHost, { ns, uuid }: Collection, { range, shardKey, stopping }: ReceivedRange) {
    this.#node = node
    this.#ns = ns
    this.#uuid = uuid
    this.#contains = membershipOf(range, shardKey)
    this.#stopping = stopping
  }

  store({ documents, sizes }: ReceivedClone): Promise<Size> {
    this.#checkStored(sizes)
    return inTurns(this.#node, null, this.#putInSteps(documents))
  }

  apply({ deleted, reloaded, sizes }: ReceivedMods): Size {
    this.#checkStored(sizes)
    this.#remove(deleted)
    this.#requireRoom(reloaded)
    const collection = this.#collection()
    for (const document of reloaded) this.#put(collection, document)
    return sizeOf(reloaded)
  }

  #checkStored(sizes: Uint8Array | null): void {
    if (sizes !== null) throw new Error(`${this.#ns} is measured on the donor and not here`)
  }

  *#putInSteps(documents: readonly Uint8Array[]): SteppedWork<Size> {
    this.#requireRoom(documents)
    for (const document of documents) {
      // After the end of the recipient its range is deleted.
      if (this.#stopping.aborted) throw new CommandError('Interrupted', 'the migration was aborted')
      this.#node.requireRoom(document.length, 1)
      this.#put(this.#collection(), document)
      yield
    }
    return sizeOf(documents)
  }

  #requireRoom(documents: readonly Uint8Array[]): void {
    this.#node.requireRoom(sizeOf(documents).bytes, documents.length)
  }

  /** Replaces a document with the same `_id`. */
  #put(collection: Collection, document: Uint8Array): void {
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

const sizeOf = (documents: readonly Uint8Array[]): Size => ({
  documents: documents.length,
  bytes: documents.reduce((sum, { length }) => sum + length, 0),
})
