/** Deciding what becomes of a reservation whose writer is gone: the main document knows. */
import type { Fields } from './port.js'
import {
  heldSpecs,
  heldValues,
  identityFilter,
  isReserved,
  lookup,
  ownerOf,
  sameReservation,
  type Proxy,
  type Reservation,
} from './proxy.js'
import { reservedValuesOf } from './spec-values.js'
import type { UniqueSpec } from './spec.js'
import { sameValue } from './values.js'
import { readMain, repeated, type World } from './world.js'
import { InvalidValueError } from './errors.js'

/**
 * Confirms what the main document has, releases the rest. Does nothing when somebody else has touched the reservation since it was read.
 * Call it only for one that has expired, or that belongs to the caller and whose main write is certainly not under way.
 * @returns what was done; null: nothing
 */
export async function resolve(
  world: World,
  proxy: Proxy,
  reservation: Reservation,
): Promise<'confirmed' | 'released' | null> {
  const main = await readMain(world, ownerOf(reservation))
  const released: UniqueSpec[] = []
  for (const spec of heldSpecs(proxy, reservation)) {
    if (!(await hasHeldValue(world, proxy, reservation, spec, main))) released.push(spec)
  }
  const unchanged: Fields = isReserved(reservation)
    ? {
        state: 'reserved',
        expiresAt: reservation.expiresAt === undefined ? { $exists: false } : { $eq: reservation.expiresAt },
      }
    : { state: reservation.state ?? { $exists: false } }
  const done = await settle(world, proxy, reservation, released, unchanged)
  if (!done) return null
  return released.length === heldSpecs(proxy, reservation).length ? 'released' : 'confirmed'
}

/** Does a main document have the value that this reservation holds for the spec? */
export async function hasHeldValue(
  world: World,
  proxy: Proxy,
  reservation: Reservation,
  spec: UniqueSpec,
  main: Fields | null,
): Promise<boolean> {
  const values = main === null ? null : validValues(spec, main)
  if (values === null) return false
  if (sameValue(values, heldValues(proxy, reservation, spec))) return true
  // Whether values that look different are one is the index's decision: a collation, or types that compare equal.
  const found = await repeated(world.clock, () => lookup(proxy, spec, values))
  return found !== null && sameReservation(proxy, found, reservation)
}

/** Values that cannot be reserved are nobody's. */
function validValues(spec: UniqueSpec, main: Fields): unknown[] | null {
  try {
    return reservedValuesOf(spec, main)
  } catch (error) {
    if (error instanceof InvalidValueError) return null
    throw error
  }
}

/**
 * Ends a reservation: releases these specs, confirms what remains, deletes what holds nothing. Only while its attempt is still the one
 * that it was read with, and `unchanged` matches.
 * @returns false: it was not there any more
 */
export async function settle(
  { clock }: Pick<World, 'clock'>,
  proxy: Proxy,
  reservation: Reservation,
  released: readonly UniqueSpec[],
  unchanged: Fields = {},
): Promise<boolean> {
  const filter = { ...identityFilter(proxy, reservation), ...unchanged }
  const remaining = heldSpecs(proxy, reservation).filter((spec) => !released.includes(spec))
  if (remaining.length === 0) return (await repeated(clock, () => proxy.port.deleteOne(filter))) > 0
  const unset = ['expiresAt', ...released.flatMap(({ fields }) => fields)]
  const update = { $set: { state: 'confirmed' }, $unset: Object.fromEntries(unset.map((field) => [field, ''])) }
  return (await repeated(clock, () => proxy.port.updateOne(filter, update))) > 0
}
