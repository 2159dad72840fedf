/**
 * The protocol's interface to a database. Documents and filters are plain objects with BSON values,
 * as in the official driver.
 */

export type Fields = Record<string, unknown>

/** In the server's form. */
export type Collation = Readonly<{ locale: string } & Record<string, unknown>>

export interface PortOptions {
  /** Compares values like a unique index with this collation. */
  readonly collation?: Collation
}

/**
 * One collection. Every write is acknowledged, and every read sees the latest acknowledged state.
 * Methods reject with a `PortError`; the protocol does not handle any other error.
 */
export interface CollectionPort {
  insertOne(document: Fields): Promise<void>
  findOne(filter: Fields, options?: PortOptions): Promise<Fields | null>
  /** @returns the number of documents that matched: 0 or 1 */
  updateOne(filter: Fields, update: Fields, options?: PortOptions): Promise<number>
  /** @returns the number of documents deleted: 0 or 1 */
  deleteOne(filter: Fields, options?: PortOptions): Promise<number>
  /** @returns the document after the update, or null */
  findOneAndUpdate(filter: Fields, update: Fields, options?: PortOptions): Promise<Fields | null>
}

/** A collection that can be read as a whole, for backfill, verify, repair and sweep. */
export interface ReadablePort extends CollectionPort {
  /** Documents that change during the read may be included or not. */
  find(filter: Fields, options?: PortOptions): AsyncIterable<Fields>
}

export interface Clock {
  /** Milliseconds since 1970, for `expiresAt`. */
  now(): number
  sleep(durationMs: number): Promise<void>
  /**
   * Calls `run` after that time; returns a function that cancels it. Absent: long writes do not
   * renew their reservations.
   */
  after?(durationMs: number, run: () => void): () => void
}

/**
 * - `duplicate`: a unique index refused the write; nothing was written.
 * - `refused`: the server refused it for another reason; nothing was written.
 * - `unknown`: the outcome is unknown.
 */
export type PortErrorKind = 'duplicate' | 'refused' | 'unknown'

/** `cause` is the driver's error, which callers receive. */
export class PortError extends Error {
  override readonly name = 'PortError'
  readonly kind: PortErrorKind

  constructor(kind: PortErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** null for any other error. */
export function kindOf(error: unknown): PortErrorKind | null {
  return error instanceof PortError ? error.kind : null
}

export function causeOf(error: unknown): unknown {
  return error instanceof PortError && error.cause !== undefined ? error.cause : error
}
