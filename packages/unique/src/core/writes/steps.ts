/** Steps that several writes have in common. */
import type { Attempt, Values } from './attempt.js'
import { oldValues } from './change.js'
import { causeOf, type Fields } from '../port.js'
import { reservedValuesOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { sameValue } from '../values.js'
import type { World } from '../world.js'

/** @throws InvalidValueError */
export function valuesOf(specs: readonly UniqueSpec[], document: Fields): Map<UniqueSpec, Values> {
  const values = new Map<UniqueSpec, Values>()
  for (const spec of specs) {
    const reserved = reservedValuesOf(spec, document)
    if (reserved !== null) values.set(spec, reserved)
  }
  return values
}

export function hasValues(main: Fields, wanted: ReadonlyMap<UniqueSpec, Values>): boolean {
  return [...wanted].every(([spec, values]) => sameValue(oldValues(spec, main), values))
}

export async function reserveAll(
  { proxies }: World,
  attempt: Attempt,
  wanted: ReadonlyMap<UniqueSpec, Values>,
): Promise<void> {
  for (const proxy of proxies) {
    const here = new Map([...wanted].filter(([spec]) => proxy.specs.includes(spec)))
    if (here.size > 0) await attempt.reserve(proxy, here)
  }
}

export async function demoteAll(
  { proxies }: World,
  attempt: Attempt,
  lost: ReadonlyMap<UniqueSpec, Values>,
): Promise<void> {
  for (const proxy of proxies) {
    for (const spec of proxy.specs) if (lost.has(spec)) await attempt.demote(proxy, spec, lost.get(spec)!)
  }
}

/** If an error occurs before the main write, undoes the reservations. */
export async function reserving(attempt: Attempt, reserve: () => Promise<void>): Promise<void> {
  try {
    await reserve()
  } catch (error) {
    await attempt.compensate()
    throw causeOf(error)
  }
}
