import type { ClientSession } from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'

export interface AnyOptions {
  readonly writeConcern?: unknown
  readonly upsert?: boolean
  readonly collation?: unknown
  readonly session?: ClientSession | undefined
}

/** The manual requires acknowledged writes. @throws RefusedOperationError */
export function refuseUnacknowledged(writeConcern: unknown): void {
  if ((writeConcern as { w?: unknown } | undefined)?.w === 0) {
    throw new RefusedOperationError(
      'write concern w: 0 is not allowed, because reservations need acknowledged writes: use the default write concern',
    )
  }
}

/** The session of the caller's transaction; null: the write has no part in one. */
export const callerTransaction = ({ session }: AnyOptions): ClientSession | null =>
  session?.inTransaction() === true ? session : null

/**
 * @param transactions the option
 * @throws RefusedOperationError for options that no write may have
 */
export function checkWrite(options: AnyOptions, transactions: boolean): void {
  refuseUnacknowledged(options.writeConcern)
  if (!transactions && callerTransaction(options) !== null) {
    throw new RefusedOperationError(
      "a session in a transaction is not allowed with transactions: 'never', because other writers have to see reservations at once: use transactions: 'auto'",
    )
  }
}

/** @throws RefusedOperationError for options that updates and deletes may not have */
export function checkChange(options: AnyOptions, transactions: boolean): void {
  checkWrite(options, transactions)
  if (options.upsert === true) {
    throw new RefusedOperationError(
      'upsert is not allowed, because it is unknown before the write whether it inserts: find the document, and use insertOne if there is none',
    )
  }
  if (options.collation !== undefined) {
    throw new RefusedOperationError(
      'the option collation is not allowed, because the write compares the old values exactly: use a filter that needs no collation',
    )
  }
}
