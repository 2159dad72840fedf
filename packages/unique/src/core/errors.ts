/** What callers of the library catch. */
import type { UniqueSpec } from './spec.js'

abstract class UniqueError extends Error {
  override get name(): string {
    return this.constructor.name
  }
}

/** Another document has the value, or is about to get it. `code` is that of the server's duplicate key error. */
export class DuplicateValueError extends UniqueError {
  readonly code = 11000
  readonly codeName = 'DuplicateKey'
  /** The spec's fields, joined by commas. */
  readonly field: string
  readonly fields: readonly string[]
  /** The value as it is reserved: after `normalize`; of several fields an array. */
  readonly value: unknown
  /** `_id` of the main document that has it. */
  readonly owner: unknown
  /** False: the other write is not done yet, and may still fail. */
  readonly confirmed: boolean

  constructor(spec: UniqueSpec, values: readonly unknown[], owner: unknown, confirmed: boolean) {
    super(
      `duplicate value ${shown(values)} of unique field ${spec.name}: ${confirmed ? 'held' : 'reserved'} by the document ${shown([owner])}`,
    )
    this.field = spec.name
    this.fields = spec.fields
    this.value = values.length === 1 ? values[0] : values
    this.owner = owner
    this.confirmed = confirmed
  }
}

/** The operation cannot be made safe. The message says why, and what to use instead. */
export class RefusedOperationError extends UniqueError {}

/** A write before `init()`. */
export class NotInitializedError extends UniqueError {
  constructor() {
    super('init() has to resolve before the first write: it makes the proxy collections or checks them')
  }
}

/** A proxy collection, or the main one, is not as the protocol needs it. */
export class MisconfiguredProxyError extends UniqueError {}

/** The value of a unique field is of a kind that cannot be reserved. */
export class InvalidValueError extends UniqueError {}

/** Another write was changing the same document's unique fields all the time that this one waited. Nothing was changed; may be repeated. */
export class BusyDocumentError extends UniqueError {
  readonly owner: unknown

  constructor(owner: unknown) {
    super(`another write is changing the unique fields of the document ${shown([owner])}`)
    this.owner = owner
  }
}

/** No answer came, also when asked again: the document may have been written or not. Its values stay reserved for that long. */
export class UnknownOutcomeError extends UniqueError {
  readonly owner: unknown

  constructor(owner: unknown, cause: unknown) {
    super(
      `whether the document ${shown([owner])} was written is not known: its values stay reserved until that is settled`,
      { cause },
    )
    this.owner = owner
  }
}

/** The reservation had expired and was given to another document before this write was confirmed. */
export class ReservationLostError extends UniqueError {
  readonly owner: unknown
  /** The document that was inserted has been deleted again; false: it is there with a value that may be another document's. */
  readonly undone: boolean

  constructor(owner: unknown, undone: boolean) {
    const fate = undone ? 'the insert was undone' : 'verify() tells which documents share a value'
    super(`the reservations for the document ${shown([owner])} were lost before they were confirmed: ${fate}`)
    this.owner = owner
    this.undone = undone
  }
}

function shown(values: readonly unknown[]): string {
  return values.map((value) => (value === undefined ? 'undefined' : JSON.stringify(value))).join(', ')
}
