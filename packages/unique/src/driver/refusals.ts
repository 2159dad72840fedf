/** Operations that cannot be made safe. */
import type { ClientSession } from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'

/** Options of single operations that matter here. */
export interface AnyOptions {
  readonly writeConcern?: unknown
  readonly upsert?: boolean
  readonly collation?: unknown
  readonly session?: ClientSession | undefined
}

/** The manual demands acknowledged writes. @throws RefusedOperationError */
export function refuseUnacknowledged(writeConcern: unknown): void {
  if ((writeConcern as { w?: unknown } | undefined)?.w === 0) {
    throw new RefusedOperationError(
      'write concern w: 0 is refused: without an answer nothing is known of a reservation. Use the default',
    )
  }
}

/** What no write may be given. @throws RefusedOperationError */
export function checkWrite(options: AnyOptions): void {
  refuseUnacknowledged(options.writeConcern)
  if (options.session?.inTransaction() === true) {
    throw new RefusedOperationError(
      "a session with a transaction is refused: reservations have to be seen by others at once. Use transactions: 'auto'",
    )
  }
}

/** What updates and deletes may not be given. @throws RefusedOperationError */
export function checkChange(options: AnyOptions): void {
  checkWrite(options)
  if (options.upsert === true) {
    throw new RefusedOperationError(
      'upsert is refused: whether it inserts is not known before. Find the document, and use insertOne where there is none',
    )
  }
  if (options.collation !== undefined) {
    throw new RefusedOperationError(
      'collation is refused: the write is guarded by the exact old values. Use a filter that needs none',
    )
  }
}
