/**
 * Streams documents from a donor to a recipient: those of the start, then changes and executed
 * statements of retryable writes. Used by migrations and reshardings.
 * Server: migration_chunk_cloner_source.cpp, session_catalog_migration_source.cpp;
 * resharding_collection_cloner.cpp, resharding_oplog_fetcher.cpp.
 */
import { CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import { type SessionKey } from '@shardlab/member'
import { encodeSessionsImage, type NodeHost } from '@shardlab/node'

/** A single document may be larger. */
const batchBytesMax = 1024 * 1024
const scannedMax = 10_000
/** Bytes of the ids of waiting changes. */
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
  /** Whether this recipient gets the document. */
  readonly contains: (document: Uint8Array) => boolean
  /** The next document as of the start; null: the end; undefined: not for this recipient. */
  readonly next: () => Uint8Array | null | undefined
}

export class DocumentFeed {
  readonly #node: NodeHost
  readonly #content: FeedContent
  readonly #changedIds = new Map<string, RawValue>()
  readonly #changedSessions = new Set<SessionKey>()
  #waitingBytes = 0
  /** A document that did not fit into the previous batch. */
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

  /** Whether all documents of the start have been sent. */
  get isDrained(): boolean {
    return this.#lastClone?.reply.last === true
  }

  /** The document with this `_id` was changed or deleted. */
  note(id: RawValue): void {
    const key = keyOf(id)
    if (this.#changedIds.has(key)) return
    this.#changedIds.set(key, id.detached())
    this.#waitingBytes += id.end - id.start
  }

  get waitingChanges(): number {
    return this.#changedIds.size
  }

  noteSession(session: SessionKey): void {
    this.#changedSessions.add(session)
  }

  /** Ends the stream with an error; the first one counts. */
  break(reason: CommandError): void {
    this.#broken ??= reason
  }

  /** @throws CommandError of {@link break}; 146 ExceededMemoryLimit */
  check(): void {
    if (this.#broken !== null) throw this.#broken
    if (this.#waitingBytes > waitingBytesMax)
      throw new CommandError('ExceededMemoryLimit', 'Aborting migration because of high memory usage')
  }

  /** Stops sending changes. */
  close(): void {
    this.#closed = true
  }

  /**
   * @param documentsMax 0: any number.
   * @throws CommandError 96 OperationFailed for a batch out of turn
   */
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

  /** Of statements on this namespace: all sessions the first time, changed ones later. */
  #takeSessions(): Uint8Array | null {
    const image = this.#node.retries.exportOf(this.#content.ns, this.#sessionsSent ? this.#changedSessions : undefined)
    this.#sessionsSent = true
    this.#changedSessions.clear()
    return image.length === 0 ? null : encodeSessionsImage(image)
  }
}

function checkTurn(last: { readonly batch: number } | null, batch: number): void {
  const next = last === null ? 0 : last.batch + 1
  if (batch !== next)
    throw new CommandError('OperationFailed', `batch ${batch} was requested, but batch ${next} is next`)
}

function keyOf({ type, bytes, start, end }: RawValue): string {
  return `${type} ${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')}`
}
