/**
 * Documents that other shards are moving here: inserted, which reserves their unique keys, and
 * hidden until their coordinator has decided. Each has a record in the same append.
 * Server: a prepared transaction of the participant.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import {
  documentsOf,
  DocumentWriter,
  emptyDocument,
  encodeKeyString,
  findField,
  hexOf,
  objectIdValue,
  sameBytes,
  type RawValue,
} from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { Collection, LogSession } from '@shardlab/storage'
import type { PreparedDocuments } from '../host/host.js'
import { RecordStore } from '../common/record-store.js'
import { readSession, type MoveSession } from './move-session.js'

export const recordsNs = 'config.prepared_inserts'

export interface PreparedInsert {
  readonly attemptId: string
  readonly coordinator: string
  readonly ns: string
  readonly collectionUuid: Uint8Array
  /** `_id` of the document. */
  readonly id: RawValue
  /** `{ lsid, txnNumber, stmtId }` of the request. */
  readonly session: Uint8Array
}

export class PreparedInserts implements PreparedDocuments {
  readonly #node: NodeHost
  readonly #records: RecordStore
  readonly #inserts = new Map<string, PreparedInsert>()
  /** By the hex of the collection's UUID. Sets are replaced, never changed: filters keep theirs. */
  readonly #hidden = new Map<string, ReadonlySet<string>>()
  readonly #draining = new Map<string, Deferred<void>>()

  constructor(node: NodeHost) {
    this.#node = node
    this.#records = new RecordStore(node, recordsNs)
  }

  recover(): void {
    for (const document of this.#records.all()) this.#add(readRecord(document))
  }

  get(attemptId: string): PreparedInsert | undefined {
    return this.#inserts.get(attemptId)
  }

  get isEmpty(): boolean {
    return this.#inserts.size === 0
  }

  all(): PreparedInsert[] {
    return [...this.#inserts.values()]
  }

  hiddenIn(collectionUuid: Uint8Array): ReadonlySet<string> | undefined {
    return this.#hidden.size === 0 ? undefined : this.#hidden.get(hexOf(collectionUuid))
  }

  drained(collectionUuid: Uint8Array): Promise<void> | undefined {
    const key = hexOf(collectionUuid)
    if (!this.#hidden.has(key)) return undefined
    let draining = this.#draining.get(key)
    if (draining === undefined) {
      draining = createDeferred<void>()
      this.#draining.set(key, draining)
    }
    return draining.promise
  }

  /** The caller flushes the node. @throws CommandError of the engine */
  prepare(insert: PreparedInsert, document: Uint8Array): void {
    const { ns, collectionUuid, id } = insert
    // Change streams report it when it is decided.
    this.#node.apply({ op: 'i', ns, uuid: collectionUuid, object: document, id, session: null, fromMigrate: true })
    this.#records.put(writeRecord(insert))
    this.#add(insert)
  }

  /** Shows the document, or deletes it; ignores unknown attempts. The caller flushes the node. */
  decide(attemptId: string, committed: boolean): void {
    const insert = this.#inserts.get(attemptId)
    if (insert === undefined) return
    // By UUID: the collection may have been renamed or dropped.
    const collection = this.#node.engine.collections().find(({ uuid }) => sameBytes(uuid, insert.collectionUuid))
    if (collection !== undefined && !committed) {
      const object = new DocumentWriter(64).value('_id', insert.id).finish()
      const { ns, uuid } = collection
      this.#node.apply({ op: 'd', ns, uuid, object, id: insert.id, session: null, fromMigrate: true })
    }
    const document = committed ? collection?.findById(insert.id)?.document : undefined
    if (document !== undefined) this.#report(collection!, document)
    this.#records.remove(attemptValue(attemptId))
    if (committed) recordConversion(this.#node, insert.ns, readSession(insert.session))
    this.#remove(insert)
  }

  /** For change streams: the document is inserted now. */
  #report({ ns, uuid }: Collection, document: Uint8Array): void {
    const o2 = new DocumentWriter(document.length + 32).document('preparedInsert', document).finish()
    this.#node.apply({ op: 'n', ns, uuid, object: emptyDocument, id: null, session: null, o2 })
  }

  #add(insert: PreparedInsert): void {
    this.#inserts.set(insert.attemptId, insert)
    const key = hexOf(insert.collectionUuid)
    this.#hidden.set(key, new Set([...(this.#hidden.get(key) ?? []), keyOf(insert.id)]))
  }

  #remove(insert: PreparedInsert): void {
    this.#inserts.delete(insert.attemptId)
    const key = hexOf(insert.collectionUuid)
    const left = new Set(this.#hidden.get(key))
    left.delete(keyOf(insert.id))
    if (left.size > 0) {
      this.#hidden.set(key, left)
      return
    }
    this.#hidden.delete(key)
    this.#draining.get(key)?.resolve()
    this.#draining.delete(key)
  }
}

/** The form of `_id`s in {@link PreparedInserts.hiddenIn}. */
export function keyOf(id: RawValue): string {
  return encodeKeyString([id])
}

/**
 * The retryable write became a transaction: repeating it fails with 217. The caller flushes the
 * node.
 */
export function recordConversion(node: NodeHost, ns: string, { id, txnNumber, stmtId }: MoveSession): void {
  const session: LogSession = { lsid: id.document, txnNumber, stmtIds: [stmtId] }
  node.apply({ op: 'n', ns, uuid: null, object: emptyDocument, id: null, session })
}

export function attemptValue(attemptId: string): RawValue {
  return objectIdValue(Buffer.from(attemptId, 'hex'))
}

function writeRecord({ attemptId, coordinator, ns, collectionUuid, id, session }: PreparedInsert): Uint8Array {
  return new DocumentWriter(256)
    .objectId('_id', Buffer.from(attemptId, 'hex'))
    .string('coordinator', coordinator)
    .string('ns', ns)
    .uuid('ui', collectionUuid)
    .startArray('ids')
    .startDocument('0')
    .value('_id', id)
    .end()
    .end()
    .document('session', session)
    .finish()
}

function readRecord(record: Uint8Array): PreparedInsert {
  const field = (name: string) => findField(record, name)!
  const ui = field('ui')
  return {
    attemptId: readAttemptId(record),
    coordinator: field('coordinator').asString(),
    ns: field('ns').asString(),
    collectionUuid: ui.asBinary(),
    id: findField(documentsOf(field('ids'))[0]!, '_id')!,
    session: field('session').slice(),
  }
}

export function readAttemptId(record: Uint8Array): string {
  return hexOf(findField(record, '_id')!.slice())
}
