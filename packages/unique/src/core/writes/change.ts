import type { Values } from './attempt.js'
import { InvalidValueError } from '../errors.js'
import type { Fields } from '../port.js'
import { reservedValuesOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { sameValue } from '../values.js'
import type { TransactionScope } from '../world.js'

/** The change may write the fields of `touched`, and no other unique fields. */
export interface Plan {
  readonly touched: readonly UniqueSpec[]
  /** The touched fields after the change, inside a document; null: the document is deleted. */
  readonly after: Fields | null
}

export interface Change<R> {
  /** null: no document matches. `scope` is null outside of a transaction. */
  readonly find: (scope: TransactionScope | null) => Promise<Fields | null>
  readonly plan: (before: Fields) => Plan
  /** null: the document no longer matches the guard. */
  readonly write: (before: Fields, guard: Fields, scope: TransactionScope | null) => Promise<R | null>
}

export interface Changed<R> {
  readonly before: Fields
  /** Null: the change was made, but the answer was lost. */
  readonly result: R | null
}

/** Old values that cannot be reserved, written without the library, are not lost. */
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

/** Null also for values that cannot be reserved. */
export function oldValues(spec: UniqueSpec, document: Fields): Values | null {
  try {
    return reservedValuesOf(spec, document)
  } catch (error) {
    if (error instanceof InvalidValueError) return null
    throw error
  }
}
