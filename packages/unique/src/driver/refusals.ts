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

/** @throws RefusedOperationError for options that no write may have */
export function checkWrite(options: AnyOptions): void {
  refuseUnacknowledged(options.writeConcern)
  if (options.session?.inTransaction() === true) {
    throw new RefusedOperationError(
      "a session in a transaction is not allowed, because other writers have to see reservations at once: use the option transactions: 'auto'",
    )
  }
}

/** @throws RefusedOperationError for options that updates and deletes may not have */
export function checkChange(options: AnyOptions): void {
  checkWrite(options)
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
