/** Server: logical_session_cache.cpp. Manual: reference/server-sessions. */
import { BsonType, CommandError, FieldIterator } from '@shardlab/bson'

/** The UUID bytes as text, for maps. */
export type SessionKey = string

export interface SessionId {
  readonly key: SessionKey
  /** As the client sent it. */
  readonly document: Uint8Array
}

export const sessionTimeoutMinutes = 30
const uuidBytes = 16

export interface SessionCatalogLimits {
  /** Parameter maxSessions. */
  readonly sessionsMax: number
}

export interface SessionJobs {
  readonly count: number
  /** null: no job has run */
  readonly lastAtMs: number | null
  readonly lastEnded: number
}

export class SessionCatalog {
  readonly #lastUsedMs = new Map<SessionKey, number>()
  readonly #limits: SessionCatalogLimits
  #jobs: SessionJobs = { count: 0, lastAtMs: null, lastEnded: 0 }
  readonly #onEnd: (key: SessionKey) => void

  /** @param onEnd called for every session that ends or expires */
  constructor(limits: SessionCatalogLimits = { sessionsMax: 1_000_000 }, onEnd: (key: SessionKey) => void = () => {}) {
    this.#limits = limits
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
    let key: SessionKey | null = null
    let user = ''
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
        case 'txnUUID':
          throw new CommandError('InvalidOptions', 'Internal sessions are not supported outside of transactions')
        default:
          throw new CommandError('IDLUnknownField', `BSON field 'lsid.${it.name()}' is an unknown field.`)
      }
    }
    if (key === null) throw new CommandError('IDLFailedToParse', "BSON field 'lsid.id' is missing but a required field")
    return { key: key + user, document: lsid }
  }

  has(key: SessionKey): boolean {
    return this.#lastUsedMs.has(key)
  }

  /** @throws CommandError 261 TooManyLogicalSessions */
  touch(session: SessionId, nowMs: number): void {
    if (!this.#lastUsedMs.has(session.key) && this.#lastUsedMs.size >= this.#limits.sessionsMax) {
      throw new CommandError(
        261,
        `Unable to add session into the cache because the number of active sessions is too high`,
      )
    }
    this.#lastUsedMs.set(session.key, nowMs)
  }

  /** In the order of their first use. */
  list(): { readonly id: Uint8Array; readonly lastUsedMs: number }[] {
    return [...this.#lastUsedMs].map(([key, lastUsedMs]) => ({
      id: new Uint8Array(Buffer.from(key, 'latin1')),
      lastUsedMs,
    }))
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

function bytesOf(field: FieldIterator, subtype: number, message: string): string {
  const { bytes, start, end, type } = field.value()
  if (type !== BsonType.binary || bytes[start + 4] !== subtype) throw new CommandError('TypeMismatch', message)
  return Buffer.from(bytes.buffer, bytes.byteOffset + start + 5, end - start - 5).toString('latin1')
}
