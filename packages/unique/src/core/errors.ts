import type { UniqueSpec } from './specs/spec.js'

/** Another document has the value, or is about to get it. */
export class ValueTakenError extends Error {
  override readonly name = 'ValueTakenError'
  readonly spec: UniqueSpec
  /** As they are reserved, after `normalize`. */
  readonly values: readonly unknown[]
  /** `_id` of the main document that has them. */
  readonly owner: unknown
  /** When the incomplete write's reservation expires; null: the other document has the value. */
  readonly until: Date | null

  constructor(spec: UniqueSpec, values: readonly unknown[], owner: unknown, until: Date | null) {
    super(
      `duplicate value ${shown(values)} of the unique field ${spec.name}: it is ${until === null ? 'used' : 'reserved'} by document ${shown([owner])}`,
    )
    this.spec = spec
    this.values = values
    this.owner = owner
    this.until = until
  }
}

/**
 * Values of existing documents are not reserved yet, and normalized values cannot be searched in
 * the main collection.
 */
export class BackfillRequiredError extends Error {
  override readonly name = 'BackfillRequiredError'
  constructor(spec: UniqueSpec) {
    super(
      `values of ${spec.name} cannot be written yet, because existing documents may have them without a reservation, and normalized values cannot be searched: run backfill() until its report says enforcing`,
    )
  }
}

/** The operation cannot be made safe. The message contains the reason and an alternative. */
export class RefusedOperationError extends Error {
  override readonly name = 'RefusedOperationError'
}

/** A write before `init()`. */
export class NotInitializedError extends Error {
  override readonly name = 'NotInitializedError'
  constructor() {
    super('the collection is not initialized: await init() before the first write')
  }
}

/** A proxy collection or the main collection does not meet the requirements of the protocol. */
export class MisconfiguredProxyError extends Error {
  override readonly name = 'MisconfiguredProxyError'
}

/** The type of a unique field's value cannot be reserved. */
export class InvalidValueError extends Error {
  override readonly name = 'InvalidValueError'
}

/**
 * Another write was changing the same document's unique fields during the whole wait. Nothing was
 * changed; the write may be repeated.
 */
export class BusyDocumentError extends Error {
  override readonly name = 'BusyDocumentError'
  readonly owner: unknown

  constructor(owner: unknown) {
    super(`another write is changing the unique fields of document ${shown([owner])}: retry later`)
    this.owner = owner
  }
}

/**
 * A write in the caller's transaction met the reservation of a write that was not complete. The
 * caller has to run the transaction again.
 */
export class RetryTransactionError extends Error {
  override readonly name = 'RetryTransactionError'
  constructor(owner: unknown) {
    super(
      `another write holds the unique values of document ${shown([owner])}: run the transaction again, as withTransaction does`,
    )
  }
}

/**
 * The write got no answer, even after retries, so it is unknown whether the document was written.
 * Its values stay reserved until the reservations expire; in a transaction, they are reserved if
 * and only if the document was written.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
  readonly owner: unknown

  constructor(owner: unknown, cause: unknown) {
    super(
      `it is unknown whether document ${shown([owner])} was written, and its values may stay reserved: read the document before you retry`,
      { cause },
    )
    this.owner = owner
  }
}

/** A reservation expired and was given to another document before this write was confirmed. */
export class ReservationLostError extends Error {
  override readonly name = 'ReservationLostError'
  readonly owner: unknown
  /**
   * true: the inserted document was deleted again. false: it exists with a value that another
   * document may have, too.
   */
  readonly undone: boolean

  constructor(owner: unknown, undone: boolean) {
    const fate = undone ? 'the insert was undone, retry it' : 'run verify() to find the documents that share a value'
    super(
      `the reservations of document ${shown([owner])} expired before they were confirmed, and another document has a value: ${fate}`,
    )
    this.owner = owner
    this.undone = undone
  }
}

function shown(values: readonly unknown[]): string {
  return values.map((value) => (value === undefined ? 'undefined' : JSON.stringify(value))).join(', ')
}
