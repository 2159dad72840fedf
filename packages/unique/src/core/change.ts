/** What a write does to one document's unique fields. */
import type { Values } from './attempt.js'
import { InvalidValueError } from './errors.js'
import type { Fields } from './port.js'
import { reservedValuesOf } from './spec-values.js'
import type { UniqueSpec } from './spec.js'
import { sameValue } from './values.js'
import type { TransactionScope } from './world.js'

/** What a change does to one document; the fields of `touched` may be written by it, no other unique fields are. */
export interface Plan {
  readonly touched: readonly UniqueSpec[]
  /** The touched fields as they are afterwards, inside of a document; null: the document is gone. */
  readonly after: Fields | null
}

export interface Change<R> {
  /** Reads the document that is to be changed; null: there is none. Of a transaction it gets the scope. */
  readonly find: (scope: TransactionScope | null) => Promise<Fields | null>
  readonly plan: (before: Fields) => Plan
  /** Changes that document if it still matches the guard; null: it does not. */
  readonly write: (before: Fields, guard: Fields, scope: TransactionScope | null) => Promise<R | null>
}

export interface Changed<R> {
  readonly before: Fields
  /** Null: it was done, but the answer that said so was lost. */
  readonly result: R | null
}

/** Which values a document gets and loses. What was written past the library and cannot be reserved is not lost. */
export function changedValues(
  touched: readonly UniqueSpec[],
  before: Fields,
  after: Fields | null,
): { readonly gained: Map<UniqueSpec, Values>; readonly lost: Map<UniqueSpec, Values> } {
  const gained = new Map<UniqueSpec, Values>()
  const lost = new Map<UniqueSpec, Values>()
  for (const spec of touched) {
    const was = oldValues(spec, before)
    const becomes = after === null ? null : reservedValuesOf(spec, after)
    if (was !== null && becomes !== null && sameValue(was, becomes)) continue
    if (becomes !== null) gained.set(spec, becomes)
    if (was !== null) lost.set(spec, was)
  }
  return { gained, lost }
}

/** Null for values that cannot be reserved, too. */
export function oldValues(spec: UniqueSpec, document: Fields): Values | null {
  try {
    return reservedValuesOf(spec, document)
  } catch (error) {
    if (error instanceof InvalidValueError) return null
    throw error
  }
}
