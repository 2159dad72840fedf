import type { Fields } from '../port.js'
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
} from '../proxy.js'
import { reservedValuesOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { sameValue } from '../values.js'
import { readMain, repeated, type World } from '../world.js'
import { InvalidValueError } from '../errors.js'

/**
 * Confirms the values that the main document has, and releases the others. Does nothing if another
 * attempt has changed the reservation since it was read. Only for a reservation that has expired,
 * or one of the caller whose main write is certainly not in progress.
 * @returns the action taken; null: none
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
  const done = await finishReservation(world, proxy, reservation, released, unchanged)
  if (!done) return null
  return released.length === heldSpecs(proxy, reservation).length ? 'released' : 'confirmed'
}

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
  // The index decides whether different values are equal: by its collation, or because types
  // compare as equal.
  const found = await repeated(world.clock, () => lookup(proxy, spec, values))
  return found !== null && sameReservation(proxy, found, reservation)
}

/** Null for values that cannot be reserved: they have no reservation. */
function validValues(spec: UniqueSpec, main: Fields): unknown[] | null {
  try {
    return reservedValuesOf(spec, main)
  } catch (error) {
    if (error instanceof InvalidValueError) return null
    throw error
  }
}

/**
 * Releases these specs, confirms the remaining ones, and deletes the document if none remain.
 * Applies only if the attempt is the one that was read, and `unchanged` matches.
 * @returns false: the reservation no longer existed
 */
export async function finishReservation(
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
