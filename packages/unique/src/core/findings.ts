import { BusyDocumentError, InvalidValueError, ValueTakenError } from './errors.js'
import type { World } from './world.js'

/** `field` is the spec's name; `value` is the reserved value, an array for several fields. */
export type Finding =
  | {
      readonly kind: 'expired'
      readonly proxy: string
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
    }
  /** A confirmed reservation whose document is gone or has another value. */
  | {
      readonly kind: 'orphaned'
      readonly proxy: string
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
    }
  | { readonly kind: 'unreserved'; readonly owner: unknown; readonly field: string; readonly value: unknown }
  /** The value of a document is reserved for another one that does not have it. */
  | {
      readonly kind: 'disagreement'
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
      readonly holder: unknown
    }
  /** Two documents have the value. Not repairable. */
  | {
      readonly kind: 'duplicate'
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
      readonly holder: unknown
    }
  /** The value cannot be reserved. Not repairable. */
  | { readonly kind: 'invalid'; readonly owner: unknown; readonly message: string }

export const shortValue = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : values)

/** null: the error is not about the document. */
export function findingOf(owner: unknown, error: unknown): Finding | null {
  if (error instanceof ValueTakenError)
    return {
      kind: 'duplicate',
      owner,
      field: error.spec.name,
      value: shortValue(error.values),
      holder: error.owner,
    }
  if (error instanceof InvalidValueError) return { kind: 'invalid', owner, message: error.message }
  return null
}

/**
 * When an incomplete write that blocks a document is complete or has expired; null: the error is
 * not about such a write.
 */
export function waitingUntil({ clock, reservationMs }: World, error: unknown): Date | null {
  if (error instanceof ValueTakenError) return error.until
  return error instanceof BusyDocumentError ? new Date(clock.now() + reservationMs) : null
}

export function rethrown(error: unknown): never {
  throw error
}
