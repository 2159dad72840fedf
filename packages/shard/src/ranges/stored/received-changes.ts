/** Puts into a recipient's collection what comes from the donor. Server: migration_batch_inserter.cpp, MigrationDestinationManager::_applyMigrateOp. */
import type { SizedRange } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import { rememberSessions } from '../../cloning/import-sessions.js'
import { noSize, sizeOf, type Size } from '../measured/sized-range.js'
import type { ShardParts } from '../../shard-parts.js'

export class ReceivedChanges {
  readonly #parts: Pick<ShardParts, 'node' | 'measured'>
  readonly #ns: string
  readonly #uuid: Uint8Array
  readonly #contains: (document: Uint8Array) => boolean

  /** @param contains is a document in the range that is received? */
  constructor(
    parts: Pick<ShardParts, 'node' | 'measured'>,
    ns: string,
    uuid: Uint8Array,
    contains: (document: Uint8Array) => boolean,
  ) {
    this.#parts = parts
    this.#ns = ns
    this.#uuid = uuid
    this.#contains = contains
  }

  /**
   * Inserts documents, or puts them in the place of their earlier forms. {@link StorageNode.flush} follows.
   * @returns their size
   * @throws CommandError 16976 when a document outside of the range has the `_id`; 11000 DuplicateKey; 26 NamespaceNotFound
   */
  store(documents: readonly Uint8Array[]): Size {
    const collection = this.#collection()
    this.#parts.node.requireRoom(
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
      this.#parts.node.apply({ op, ns: this.#ns, uuid: this.#uuid, object: document, id, session: null })
      bytes += document.length
    }
    return { documents: documents.length, bytes }
  }

  /** Removes those of the documents `{ _id }` that are in the range. {@link StorageNode.flush} follows. */
  remove(ids: readonly Uint8Array[]): void {
    const collection = this.#collection()
    for (const each of ids) {
      const id = findField(each, '_id')!
      const local = collection.findById(id)?.document
      if (local === undefined || !this.#contains(local)) continue
      const object = new DocumentWriter(64).value('_id', id).finish()
      this.#parts.node.apply({ op: 'd', ns: this.#ns, uuid: this.#uuid, object, id, session: null })
    }
  }

  /** Adds sizes of ranges instead of documents. @returns their sum */
  grow(ranges: readonly SizedRange[]): Size {
    if (ranges.length === 0) return noSize
    const measured = this.#parts.measured.of(this.#collection())
    if (measured === undefined) throw new Error(`${this.#ns} is measured on the donor and not here`)
    for (const range of ranges) measured.grow(range)
    return sizeOf(ranges)
  }

  /** Takes over which statements of retryable writes the donor has executed. {@link StorageNode.flush} follows. */
  remember(sessions: Uint8Array): void {
    rememberSessions(this.#parts.node, sessions)
  }

  #collection(): Collection {
    const collection = this.#parts.node.collection(this.#ns)
    if (collection === undefined || !sameBytes(collection.uuid, this.#uuid))
      throw new CommandError('NamespaceNotFound', `Collection ${this.#ns} was dropped in the middle of the migration`)
    return collection
  }
}
