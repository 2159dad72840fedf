import type { DeleteResult, Document, UpdateResult } from 'mongodb'
import { hasLabel } from './adapter.js'

export const updated = <TSchema extends Document>(matched: 0 | 1): UpdateResult<TSchema> => ({
  acknowledged: true,
  matchedCount: matched,
  modifiedCount: matched,
  upsertedCount: 0,
  upsertedId: null,
})

export const deleted = (count: number): DeleteResult => ({ acknowledged: true, deletedCount: count })

export interface UniqueBulkWriteResult {
  insertedCount: number
  matchedCount: number
  modifiedCount: number
  deletedCount: number
  /** By the index of the operation. */
  readonly insertedIds: Record<number, unknown>
}

export interface UniqueWriteError {
  /** Index of the operation or of the document. */
  readonly index: number
  readonly error: unknown
}

/** `code` and `message` are those of the first error. */
export class UniqueBulkWriteError extends Error {
  override readonly name = 'UniqueBulkWriteError'
  readonly code: unknown
  readonly writeErrors: readonly UniqueWriteError[]
  /** The effect of the writes that succeeded. */
  readonly result: UniqueBulkWriteResult

  constructor(writeErrors: readonly UniqueWriteError[], result: UniqueBulkWriteResult) {
    const [first] = writeErrors
    super(first?.error instanceof Error ? first.error.message : 'a write failed', { cause: first?.error })
    this.code = (first?.error as { code?: unknown } | undefined)?.code
    this.writeErrors = writeErrors
    this.result = result
  }
}

/** For unordered writes. */
const concurrency = 16

/**
 * Ordered writes run until one fails, unordered ones concurrently. An error ends a transaction of
 * the caller, so its writes are ordered.
 * @throws UniqueBulkWriteError. If a transaction of the caller must run again, the driver's error
 * instead, because withTransaction reads its labels.
 */
export async function inBulk(
  writes: readonly ((result: UniqueBulkWriteResult, index: number) => Promise<void>)[],
  ordered: boolean,
  inTransaction: boolean,
): Promise<UniqueBulkWriteResult> {
  const isSerial = ordered || inTransaction
  const result: UniqueBulkWriteResult = {
    insertedCount: 0,
    matchedCount: 0,
    modifiedCount: 0,
    deletedCount: 0,
    insertedIds: {},
  }
  const errors: UniqueWriteError[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < writes.length && !(isSerial && errors.length > 0)) {
      const index = next++
      try {
        await writes[index]!(result, index)
      } catch (error) {
        errors.push({ index, error })
      }
    }
  }
  await Promise.all(Array.from({ length: isSerial ? 1 : concurrency }, worker))
  if (inTransaction && hasLabel(errors[0]?.error, 'TransientTransactionError')) throw errors[0]!.error
  if (errors.length > 0)
    throw new UniqueBulkWriteError(
      errors.toSorted((a, b) => a.index - b.index),
      result,
    )
  return result
}
