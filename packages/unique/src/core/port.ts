/** What the protocol needs of a database. Documents and filters are plain objects with BSON values, as the official driver takes them. */

export type Fields = Record<string, unknown>

/** A collation document as the server takes it. */
export type Collation = Readonly<{ locale: string } & Record<string, unknown>>

export interface PortOptions {
  /** For comparing values as a unique index of that collation does. */
  readonly collation?: Collation
}

/**
 * One collection. Every write is acknowledged, every read is of the latest acknowledged state. Methods reject with a `PortError`, and
 * with anything else when it is nothing that the protocol should handle.
 */
export interface CollectionPort {
  insertOne(document: Fields): Promise<void>
  findOne(filter: Fields, options?: PortOptions): Promise<Fields | null>
  /** @returns how many documents matched: 0 or 1 */
  updateOne(filter: Fields, update: Fields, options?: PortOptions): Promise<number>
  /** @returns how many documents were deleted: 0 or 1 */
  deleteOne(filter: Fields, options?: PortOptions): Promise<number>
  /** @returns the document as it is after the update, or null */
  findOneAndUpdate(filter: Fields, update: Fields, options?: PortOptions): Promise<Fields | null>
}

/** A collection that can be read as a whole, which backfill, verify, repair and sweep need. */
export interface ReadablePort extends CollectionPort {
  /** Streams all documents that match; documents that change meanwhile may be seen or not. */
  find(filter: Fields): AsyncIterable<Fields>
}

export interface Clock {
  /** Milliseconds since 1970, for `expiresAt`. */
  now(): number
  sleep(durationMs: number): Promise<void>
  /** Calls `run` after that time unless cancelled; absent: long writes do not renew their reservations. */
  after?(durationMs: number, run: () => void): () => void
}

/**
 * - `duplicate`: a unique index refused the write; nothing was written.
 * - `refused`: the server refused it for another reason; nothing was written.
 * - `unknown`: it may or may not have happened.
 */
export type PortErrorKind = 'duplicate' | 'refused' | 'unknown'

/** `cause` is the error of the driver, which is what callers get to see. */
export class PortError extends Error {
  override readonly name = 'PortError'
  readonly kind: PortErrorKind

  constructor(kind: PortErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** The kind of a PortError, null for any other error. */
export function kindOf(error: unknown): PortErrorKind | null {
  return error instanceof PortError ? error.kind : null
}

/** Of a PortError the driver's error, where there is one. */
export function causeOf(error: unknown): unknown {
  return error instanceof PortError && error.cause !== undefined ? error.cause : error
}
