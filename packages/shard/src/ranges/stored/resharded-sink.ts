/**
 * A document that moves between donors may arrive from the second before the first has reported its
 * removal: then two documents have one `_id`, or one value of a unique index. The new one waits
 * until the old one is removed.
 * Server: resharding_oplog_application.cpp, with stash collections.
 */
import type { CancelSignal } from '@shardlab/actor'
import { CommandError, DocumentWriter, encodeKeyString, findField, sameBytes, type RawValue } from '@shardlab/bson'
import { inTurns, type NodeHost, type SteppedWork } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { CollectedDocuments, ReceivedClone, ReceivedMods, ReshardingSink, Size } from '../collection-ranges.js'

interface Waiting {
  readonly donor: string
  readonly document: Uint8Array
}

/** Of waiting documents; beyond that, equal keys are an error. */
const waitingBytesMax = 100 * 1024 * 1024

export class ReshardedSink implements ReshardingSink {
  readonly #node: NodeHost
  readonly #ns: string
  readonly #uuid: Uint8Array
  readonly #source: CollectionPlacement
  readonly #stopping: CancelSignal
  readonly #waiting = new Map<string, Waiting>()
  #waitingBytes = 0
  inserted = 0
  updated = 0
  deleted = 0
  waits = 0

  constructor(node: NodeHost, { ns, uuid }: Collection, { source, stopping }: CollectedDocuments) {
    this.#node = node
    this.#ns = ns
    this.#uuid = uuid
    this.#source = source
    this.#stopping = stopping
  }

  store(donor: string, { documents, sizes }: ReceivedClone): Promise<Size> {
    this.#checkStored(sizes)
    return inTurns(this.#node, null, this.#putInSteps(donor, documents))
  }

  apply(donor: string, { deleted, reloaded, sizes }: ReceivedMods): number {
    this.#checkStored(sizes)
    this.#remove(donor, deleted)
    this.#putAll(donor, reloaded)
    return deleted.length + reloaded.length
  }

  #checkStored(sizes: Uint8Array | null): void {
    if (sizes !== null) throw new Error(`${this.#ns} is measured on the donor and not here`)
  }

  *#putInSteps(donor: string, documents: readonly Uint8Array[]): SteppedWork<Size> {
    this.#requireRoom(documents)
    for (const document of documents) {
      if (this.#stopping.aborted) throw new CommandError('Interrupted', 'the resharding was aborted')
      this.#node.requireRoom(document.length, 1)
      this.#put(this.#collection(), donor, document)
      yield
    }
    this.#limitWaiting()
    return { documents: documents.length, bytes: bytesOf(documents) }
  }

  #putAll(donor: string, documents: readonly Uint8Array[]): void {
    this.#requireRoom(documents)
    const collection = this.#collection()
    for (const document of documents) this.#put(collection, donor, document)
    this.#limitWaiting()
  }

  #requireRoom(documents: readonly Uint8Array[]): void {
    this.#node.requireRoom(bytesOf(documents), documents.length)
  }

  #limitWaiting(): void {
    if (this.#waitingBytes > waitingBytesMax) this.finish()
  }

  #remove(donor: string, ids: readonly Uint8Array[]): void {
    const collection = this.#collection()
    for (const each of ids) {
      const id = findField(each, '_id')!
      this.#stopWaiting(keyOf(donor, id))
      const local = collection.findById(id)?.document
      if (local !== undefined && this.#donorOf(local) === donor) this.#delete(id)
    }
  }

  retry(): void {
    for (let before = -1; this.#waiting.size > 0 && before !== this.#waiting.size;) {
      before = this.#waiting.size
      const collection = this.#collection()
      for (const [key, waiting] of [...this.#waiting]) {
        this.#stopWaiting(key)
        this.#put(collection, waiting.donor, waiting.document)
      }
    }
  }

  finish(): void {
    this.retry()
    for (const [key, { document }] of this.#waiting) {
      this.#insert(document)
      this.#stopWaiting(key)
    }
  }

  #put(collection: Collection, donor: string, document: Uint8Array): void {
    const id = findField(document, '_id')!
    this.#stopWaiting(keyOf(donor, id))
    const local = collection.findById(id)?.document
    if (local !== undefined && this.#donorOf(local) !== donor) return this.#wait(donor, id, document)
    try {
      if (local === undefined) this.#insert(document)
      else {
        this.#node.apply({
          op: 'u',
          ns: this.#ns,
          uuid: this.#uuid,
          object: document,
          id,
          session: null,
          fromMigrate: true,
        })
        this.updated++
      }
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== duplicateKey) throw error
      // The earlier form must not block another waiting document.
      if (local !== undefined) this.#delete(id)
      this.#wait(donor, id, document)
    }
  }

  #insert(document: Uint8Array): void {
    const id = findField(document, '_id')!
    this.#node.apply({
      op: 'i',
      ns: this.#ns,
      uuid: this.#uuid,
      object: document,
      id,
      session: null,
      fromMigrate: true,
    })
    this.inserted++
  }

  #delete(id: RawValue): void {
    const object = new DocumentWriter(64).value('_id', id).finish()
    this.#node.apply({ op: 'd', ns: this.#ns, uuid: this.#uuid, object, id, session: null, fromMigrate: true })
    this.deleted++
  }

  #wait(donor: string, id: RawValue, document: Uint8Array): void {
    this.#waiting.set(keyOf(donor, id), { donor, document })
    this.#waitingBytes += document.length
    this.waits++
  }

  #stopWaiting(key: string): void {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#waiting.delete(key)
    this.#waitingBytes -= waiting.document.length
  }

  /** The owner of the document's key under the old pattern. */
  #donorOf(document: Uint8Array): string | null {
    const key = this.#source.shardKey.extract(document)
    return typeof key === 'string' ? null : this.#source.table.shardOf(key.keyString)
  }

  #collection(): Collection {
    const collection = this.#node.collection(this.#ns)
    if (collection === undefined || !sameBytes(collection.uuid, this.#uuid))
      throw new CommandError('NamespaceNotFound', `Collection ${this.#ns} was dropped in the middle of resharding`)
    return collection
  }
}

const duplicateKey = 11000

const bytesOf = (documents: readonly Uint8Array[]): number => documents.reduce((sum, { length }) => sum + length, 0)

function keyOf(donor: string, id: RawValue): string {
  return `${donor} ${encodeKeyString([id])}`
}
