/** Server: logical_session_cache.cpp. Manual: reference/server-sessions. */
import { BsonType, CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'

/** The UUID bytes as text, for maps. */
export type SessionKey = string

export interface SessionId {
  readonly key: SessionKey
  /** As the client sent it. */
  readonly document: Uint8Array
  /** Of the session of an internal transaction. Absent: it is a session of a client. */
  readonly parent?: ParentSession
}

export interface ParentSession {
  readonly session: SessionId
  /** Of the retryable write that runs in the internal transaction. Null: it is not retryable. */
  readonly txnNumber: bigint | null
}

/** Of an internal transaction, the session of the client for which it runs; else the session. */
export function clientSession(session: SessionId): SessionId {
  return session.parent?.session ?? session
}

export const sessionTimeoutMinutes = 30
const uuidBytes = 16

export interface SessionCatalogOptions {
  /** Parameter maxSessions. Default 1,000,000. */
  readonly sessionsMax?: number
  readonly onLimit?: (limit: 'maxSessions', value: number) => void
  /** Called for every session that ends or expires. */
  readonly onEnd?: (key: SessionKey) => void
}

/** Limits of a process. */
export function sessionLimits(host: {
  readonly parameters: { number(name: 'maxSessions'): number }
  limitReached(limit: string, value: number): void
}): Pick<SessionCatalogOptions, 'sessionsMax' | 'onLimit'> {
  const onLimit = (limit: string, value: number): void => host.limitReached(limit, value)
  return { sessionsMax: host.parameters.number('maxSessions'), onLimit }
}

export interface SessionJobs {
  readonly count: number
  /** null: no job has run */
  readonly lastAtMs: number | null
  readonly lastEnded: number
}

export class SessionCatalog {
  readonly #lastUsedMs = new Map<SessionKey, number>()
  readonly #sessionsMax: number
  readonly #onLimit: (limit: 'maxSessions', value: number) => void
  #jobs: SessionJobs = { count: 0, lastAtMs: null, lastEnded: 0 }
  readonly #onEnd: (key: SessionKey) => void

  constructor({ sessionsMax = 1_000_000, onLimit = () => {}, onEnd = () => {} }: SessionCatalogOptions = {}) {
    this.#sessionsMax = sessionsMax
    this.#onLimit = onLimit
    this.#onEnd = onEnd
  }

  get jobs(): SessionJobs {
    return this.#jobs
  }

  get size(): number {
    return this.#lastUsedMs.size
  }

  /**
   * Reads `{ id: UUID, uid? }`. The same id with another user is another session.
   * @throws CommandError 14 TypeMismatch, 207 InvalidUUID, 40414 without id, 40415 for unknown
   *   fields, 72 for sessions of internal transactions
   */
  static parse(lsid: Uint8Array): SessionId {
    const session = SessionCatalog.parseAny(lsid)
    if (session.parent !== undefined) throw internalOutside()
    return session
  }

  /**
   * As {@link parse}; also `{ id, uid?, txnNumber?, txnUUID }`, the session of an internal
   * transaction.
   */
  static parseAny(lsid: Uint8Array): SessionId {
    let key: SessionKey | null = null
    let user = ''
    let txnNumber: bigint | null = null
    let txnUuid: string | null = null
    for (const it = new FieldIterator(lsid); it.next();) {
      switch (it.name()) {
        case 'id':
          key = bytesOf(it, 4, "BSON field 'lsid.id' is the wrong binData type, expected type 'UUID'")
          if (key.length !== uuidBytes)
            throw new CommandError('InvalidUUID', 'uuid must be a 16-byte binary field with UUID (4) subtype')
          break
        case 'uid':
          user = bytesOf(it, 0, "BSON field 'lsid.uid' is the wrong binData type, expected type 'general'")
          break
        case 'txnNumber':
          if (it.type !== BsonType.int64) throw internalOutside()
          txnNumber = it.value().asBigInt()
          break
        case 'txnUUID':
          txnUuid = bytesOf(it, 4, "BSON field 'lsid.txnUUID' is the wrong binData type, expected type 'UUID'")
          break
        default:
          throw new CommandError('IDLUnknownField', `BSON field 'lsid.${it.name()}' is an unknown field.`)
      }
    }
    if (key === null) throw new CommandError('IDLFailedToParse', "BSON field 'lsid.id' is missing but a required field")
    if (txnNumber === null && txnUuid === null) return { key: key + user, document: lsid }
    if (txnUuid === null) throw internalOutside()
    const parent = { key: key + user, document: withoutTransaction(lsid) }
    return { key: internalKey(parent.key, txnUuid, txnNumber), document: lsid, parent: { session: parent, txnNumber } }
  }

  has(key: SessionKey): boolean {
    return this.#lastUsedMs.has(key)
  }

  /** @throws CommandError 261 TooManyLogicalSessions */
  touch(session: SessionId, nowMs: number): void {
    if (!this.#lastUsedMs.has(session.key) && this.#lastUsedMs.size >= this.#sessionsMax) {
      this.#onLimit('maxSessions', this.#sessionsMax)
      throw new CommandError(
        261,
        `Unable to add session into the cache because the number of active sessions is too high`,
      )
    }
    this.#lastUsedMs.set(session.key, nowMs)
  }

  /** In the order of their first use. */
  list(): { readonly id: Uint8Array; readonly uid: Uint8Array; readonly lastUsedMs: number }[] {
    return [...this.#lastUsedMs].map(([key, lastUsedMs]) => {
      const { id, uid } = sessionParts(key)
      return { id: new Uint8Array(id), uid: new Uint8Array(uid), lastUsedMs }
    })
  }

  adopt(other: SessionCatalog): void {
    this.#lastUsedMs.clear()
    for (const [key, lastUsedMs] of other.#lastUsedMs) this.#lastUsedMs.set(key, lastUsedMs)
  }

  end(key: SessionKey): void {
    if (this.#lastUsedMs.delete(key)) this.#onEnd(key)
  }

  expire(nowMs: number): void {
    let ended = 0
    for (const [key, lastUsedMs] of this.#lastUsedMs) {
      if (nowMs - lastUsedMs <= sessionTimeoutMinutes * 60_000) continue
      this.end(key)
      ended++
    }
    this.#jobs = { count: this.#jobs.count + 1, lastAtMs: nowMs, lastEnded: ended }
  }
}

export function internalOutside(): CommandError {
  return new CommandError('InvalidOptions', 'Internal sessions are not supported outside of transactions')
}

function internalKey(parent: SessionKey, txnUuid: string, txnNumber: bigint | null): SessionKey {
  const uuid = Buffer.from(txnUuid, 'latin1').toString('hex')
  return txnNumber === null ? `${parent}/${uuid}` : `${parent}/${uuid}/${txnNumber}`
}

const internalPart = /\/([0-9a-f]{32})(?:\/(\d+))?$/

export interface SessionParts {
  readonly id: Uint8Array
  /** Empty: the session has no user. */
  readonly uid: Uint8Array
  /** These two: of an internal transaction; else null. */
  readonly txnUuid: Uint8Array | null
  readonly txnNumber: bigint | null
}

export function sessionParts(key: SessionKey): SessionParts {
  const internal = internalPart.exec(key)
  const bytes = Buffer.from(internal === null ? key : key.slice(0, internal.index), 'latin1')
  return {
    id: bytes.subarray(0, uuidBytes),
    uid: bytes.subarray(uuidBytes),
    txnUuid: internal === null ? null : Buffer.from(internal[1]!, 'hex'),
    txnNumber: internal?.[2] === undefined ? null : BigInt(internal[2]),
  }
}

export function isInternalSession(key: SessionKey): boolean {
  return internalPart.test(key)
}

function withoutTransaction(lsid: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(lsid.length)
  for (const it = new FieldIterator(lsid); it.next();)
    if (it.name() === 'id' || it.name() === 'uid') writer.value(it.name(), it.value())
  return writer.finish()
}

function bytesOf(field: FieldIterator, subtype: number, message: string): string {
  const { bytes, start, end, type } = field.value()
  if (type !== BsonType.binary || bytes[start + 4] !== subtype) throw new CommandError('TypeMismatch', message)
  return Buffer.from(bytes.buffer, bytes.byteOffset + start + 5, end - start - 5).toString('latin1')
}
