/**
 * What one member hands to another that takes documents over: those that were there at the start, then whatever has changed since, and which
 * retryable writes were executed. Server: migration_chunk_cloner_source.cpp, session_catalog_migration_source.cpp; for resharding
 * resharding_collection_cloner.cpp and resharding_oplog_fetcher.cpp.
 */
import { CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import { type SessionKey } from '@shardlab/member'
import { encodeSessionsImage, type NodeHost } from '@shardlab/node'

/** A batch ends before it would exceed this many bytes; one document always fits. */
const batchBytesMax = 1024 * 1024
/** Documents that are looked at for one batch, whether they belong to it or not. */
const scannedMax = 10_000
/** Ids of changed documents that a recipient may leave behind. */
const waitingBytesMax = 500 * 1024 * 1024

export interface CloneBatch {
  readonly documents: readonly Uint8Array[]
  readonly last: boolean
}

export interface ModsBatch {
  /** Documents `{ _id }`. */
  readonly deleted: readonly Uint8Array[]
  readonly reloaded: readonly Uint8Array[]
  readonly sessions: Uint8Array | null
}

export interface FeedContent {
  readonly ns: string
  /** Does a document count for this recipient? */
  readonly contains: (document: Uint8Array) => boolean
  /** The next document that was there at the start: null at the end, undefined for one that does not count. */
  readonly next: () => Uint8Array | null | undefined
}

export class DocumentFeed {
  readonly #node: NodeHost
  readonly #content: FeedContent
  readonly #changedIds = new Map<string, RawValue>()
  readonly #changedSessions = new Set<SessionKey>()
  #waitingBytes = 0
  /** A document that had no place in the batch before. */
  #pending: Uint8Array | null = null
  #lastClone: { readonly batch: number; readonly reply: CloneBatch } | null = null
  #lastMods: { readonly batch: number; readonly reply: ModsBatch } | null = null
  #sessionsSent = false
  #broken: CommandError | null = null
  #closed = false

  constructor(node: NodeHost, content: FeedContent) {
    this.#node = node
    this.#content = content
  }

  /** Were all documents given that were there at the start? */
  get isDrained(): boolean {
    return this.#lastClone?.reply.last === true
  }

  /** A document with this `_id` is another one now, or gone. */
  note(id: RawValue): void {
    const key = keyOf(id)
    if (this.#changedIds.has(key)) return
    this.#changedIds.set(key, id.detached())
    this.#waitingBytes += id.end - id.start
  }

  /** Documents that have changed and have not been handed over. */
  get waitingChanges(): number {
    return this.#changedIds.size
  }

  /** A statement of this session was executed. */
  noteSession(session: SessionKey): void {
    this.#changedSessions.add(session)
  }

  /** It cannot go on, for this reason. */
  break(reason: CommandError): void {
    this.#broken ??= reason
  }

  /** @throws CommandError why it cannot go on; 146 ExceededMemoryLimit */
  check(): void {
    if (this.#broken !== null) throw this.#broken
    if (this.#waitingBytes > waitingBytesMax)
      throw new CommandError('ExceededMemoryLimit', 'Aborting migration because of high memory usage')
  }

  /** What changes from now on is none of the recipient's business. */
  close(): void {
    this.#closed = true
  }

  /** @param documentsMax 0: any number. @throws CommandError 96 OperationFailed for a batch out of turn */
  clone(batch: number, documentsMax: number): CloneBatch {
    if (this.#lastClone?.batch === batch) return this.#lastClone.reply
    checkTurn(this.#lastClone, batch)
    const documents: Uint8Array[] = []
    let bytes = 0
    let last = false
    for (let scanned = 0; scanned < scannedMax; scanned++) {
      const document = this.#pending ?? this.#content.next()
      this.#pending = null
      last = document === null
      if (document === null) break
      if (document === undefined) continue
      const isFull = documents.length === documentsMax || bytes + document.length > batchBytesMax
      if (documents.length > 0 && isFull) {
        this.#pending = document
        break
      }
      documents.push(document)
      bytes += document.length
    }
    const reply: CloneBatch = { documents, last }
    this.#lastClone = { batch, reply }
    return reply
  }

  /** @throws CommandError as {@link clone} */
  mods(batch: number): ModsBatch {
    if (this.#lastMods?.batch === batch) return this.#lastMods.reply
    checkTurn(this.#lastMods, batch)
    if (this.#closed) return { deleted: [], reloaded: [], sessions: null }
    const live = this.#node.collection(this.#content.ns)
    const deleted: Uint8Array[] = []
    const reloaded: Uint8Array[] = []
    let bytes = 0
    for (const [key, id] of this.#changedIds) {
      const document = live?.findById(id)?.document
      const isIn = document !== undefined && this.#content.contains(document)
      const sent = isIn ? document : new DocumentWriter(64).value('_id', id).finish()
      if (bytes > 0 && bytes + sent.length > batchBytesMax) break
      bytes += sent.length
      ;(isIn ? reloaded : deleted).push(sent)
      this.#changedIds.delete(key)
      this.#waitingBytes -= id.end - id.start
    }
    const reply: ModsBatch = { deleted, reloaded, sessions: this.#takeSessions() }
    this.#lastMods = { batch, reply }
    return reply
  }

  /** The first time everything that is known, then what has changed. */
  #takeSessions(): Uint8Array | null {
    const image = this.#node.retries.export(this.#sessionsSent ? this.#changedSessions : undefined)
    this.#sessionsSent = true
    this.#changedSessions.clear()
    return image.length === 0 ? null : encodeSessionsImage(image)
  }
}

function checkTurn(last: { readonly batch: number } | null, batch: number): void {
  const next = last === null ? 0 : last.batch + 1
  if (batch !== next) throw new CommandError('OperationFailed', `batch ${batch} was asked for where ${next} is next`)
}

function keyOf({ type, bytes, start, end }: RawValue): string {
  return `${type} ${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')}`
}
