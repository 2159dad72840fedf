/** Puts into a recipient's collection what comes from the donor. Server: migration_batch_inserter.cpp, MigrationDestinationManager::_applyMigrateOp. */
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import { rememberSessions } from '../cloning/remember-sessions.js'

export class ReceivedChanges {
  readonly #node: StorageNode
  readonly #ns: string
  readonly #uuid: Uint8Array
  readonly #contains: (document: Uint8Array) => boolean

  /** @param contains is a document in the range that is received? */
  constructor(node: StorageNode, ns: string, uuid: Uint8Array, contains: (document: Uint8Array) => boolean) {
    this.#node = node
    this.#ns = ns
    this.#uuid = uuid
    this.#contains = contains
  }

  /**
   * Inserts documents, or puts them in the place of their earlier forms. {@link StorageNode.flush} follows.
   * @throws CommandError 16976 when a document outside of the range has the `_id`; 11000 DuplicateKey; 26 NamespaceNotFound
   */
  store(documents: readonly Uint8Array[]): void {
    const collection = this.#collection()
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
      this.#node.apply({ op, ns: this.#ns, uuid: this.#uuid, object: document, id, session: null })
    }
  }

  /** Removes those of the documents `{ _id }` that are in the range. {@link StorageNode.flush} follows. */
  remove(ids: readonly Uint8Array[]): void {
    const collection = this.#collection()
    for (const each of ids) {
      const id = findField(each, '_id')!
      const local = collection.findById(id)?.document
      if (local === undefined || !this.#contains(local)) continue
      const object = new DocumentWriter(64).value('_id', id).finish()
      this.#node.apply({ op: 'd', ns: this.#ns, uuid: this.#uuid, object, id, session: null })
    }
  }

  /** Takes over which statements of retryable writes the donor has executed. {@link StorageNode.flush} follows. */
  remember(sessions: Uint8Array): void {
    rememberSessions(this.#node, sessions)
  }

  #collection(): Collection {
    const collection = this.#node.collection(this.#ns)
    if (collection === undefined || !sameBytes(collection.uuid, this.#uuid))
      throw new CommandError('NamespaceNotFound', `Collection ${this.#ns} was dropped in the middle of the migration`)
    return collection
  }
}
