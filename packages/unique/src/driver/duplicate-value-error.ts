import { MongoServerError } from 'mongodb'
import { RetryTransactionError, ValueTakenError } from '../core/errors.js'

/**
 * Another document has the value, or is about to get it. A MongoServerError with the fields of the
 * server's duplicate key error, so that existing handlers work.
 */
export class DuplicateValueError extends MongoServerError {
  override readonly code = 11000
  override readonly codeName = 'DuplicateKey'
  /** As in the server's error: the fields of the unique index, `{ email: 1 }`. */
  readonly keyPattern: Readonly<Record<string, 1>>
  /** The values as they are reserved, after `normalize`: `{ email: 'a@example.net' }`. */
  readonly keyValue: Readonly<Record<string, unknown>>
  /** The spec's fields, joined by commas. */
  readonly field: string
  readonly fields: readonly string[]
  /** The value as it is reserved; an array for several fields. */
  readonly value: unknown
  /** `_id` of the main document that has it. */
  readonly owner: unknown
  /** False: the other write is not complete and may still fail. */
  readonly confirmed: boolean
  /** When the reservation of the incomplete write expires; null: confirmed. */
  readonly until: Date | null

  override get name(): string {
    return 'DuplicateValueError'
  }

  constructor({ message, spec, values, owner, until }: ValueTakenError) {
    const keyPattern = Object.fromEntries(spec.fields.map((field) => [field, 1 as const]))
    const keyValue = Object.fromEntries(spec.fields.map((field, i) => [field, values[i]]))
    super({ message: `E11000 ${message}`, code: 11000, codeName: 'DuplicateKey', keyPattern, keyValue })
    this.keyPattern = keyPattern
    this.keyValue = keyValue
    this.field = spec.name
    this.fields = spec.fields
    this.value = values.length === 1 ? values[0] : values
    this.owner = owner
    this.confirmed = until === null
    this.until = until
  }
}

/** Replaces the protocol's errors by those that are like the driver's. */
export async function withDuplicateErrors<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof ValueTakenError) throw new DuplicateValueError(error)
    if (!(error instanceof RetryTransactionError)) throw error
    const { message } = error
    const conflict = new MongoServerError({ message, code: 112, codeName: 'WriteConflict' })
    conflict.addErrorLabel('TransientTransactionError')
    throw conflict
  }
}
