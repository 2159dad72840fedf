/**
 * Logical sessions that a member has heard of, with the time of their last use.
 * Server: logical_session_cache.cpp. Manual: reference/server-sessions.
 */
import { BsonType, CommandError, findField } from '@shardlab/bson'

/** A session as text, for maps: the bytes of its id's UUID. */
export type SessionKey = string

/** The `lsid` of a command, checked. */
export interface SessionId {
  readonly key: SessionKey
  /** The lsid document as the client sent it. */
  readonly document: Uint8Array
}

/** Minutes of idleness after which a session is forgotten; announced by hello. */
export const sessionTimeoutMinutes = 30

export interface SessionCatalogLimits {
  /** Most sessions kept; the server's maxSessions. */
  readonly sessionsMax: number
}

export class SessionCatalog {
  readonly #lastUsedMs = new Map<SessionKey, number>()
  readonly #limits: SessionCatalogLimits
  readonly #onEnd: (key: SessionKey) => void

  /** `onEnd` hears of every session that is ended or forgotten. */
  constructor(limits: SessionCatalogLimits = { sessionsMax: 1_000_000 }, onEnd: (key: SessionKey) => void = () => {}) {
    this.#limits = limits
    this.#onEnd = onEnd
  }

  get size(): number {
    return this.#lastUsedMs.size
  }

  /**
   * Reads `{ id: UUID }`.
   * @throws CommandError 2 BadValue / 14 TypeMismatch / 40414 for anything else
   */
  static parse(lsid: Uint8Array): SessionId {
    const id = findField(lsid, 'id')
    if (id === undefined) throw new CommandError(40414, "BSON field 'lsid.id' is missing but a required field")
    if (id.type !== BsonType.binary || id.bytes[id.start + 4] !== 4) {
      throw new CommandError('TypeMismatch', `BSON field 'lsid.id' is the wrong binData type, expected type 'UUID'`)
    }
    return {
      key: Buffer.from(id.bytes.buffer, id.bytes.byteOffset + id.start + 5, id.end - id.start - 5).toString('latin1'),
      document: lsid,
    }
  }

  /**
   * Notes a use.
   * @throws CommandError 261 TooManyLogicalSessions
   */
  touch(session: SessionId, nowMs: number): void {
    if (!this.#lastUsedMs.has(session.key) && this.#lastUsedMs.size >= this.#limits.sessionsMax) {
      throw new CommandError(261, `Unable to add session into the cache because the number of active sessions is too high`)
    }
    this.#lastUsedMs.set(session.key, nowMs)
  }

  end(key: SessionKey): void {
    if (this.#lastUsedMs.delete(key)) this.#onEnd(key)
  }

  /** Forgets what has been idle for {@link sessionTimeoutMinutes}. */
  expire(nowMs: number): void {
    for (const [key, lastUsedMs] of this.#lastUsedMs) {
      if (nowMs - lastUsedMs > sessionTimeoutMinutes * 60_000) this.end(key)
    }
  }
}
