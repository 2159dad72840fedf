import type { Fields, PortOptions, ReadablePort } from './port.js'
import { rawValuesOf } from './specs/spec-values.js'
import { setAt, type UniqueSpec } from './specs/spec.js'
import { sameValue } from './values.js'

export interface Proxy {
  readonly name: string
  readonly port: ReadablePort
  /** One if the proxy is sharded, any number otherwise. */
  readonly specs: readonly UniqueSpec[]
  /** Sharded by the spec's fields, so single writes must contain their values. */
  readonly sharded: boolean
}

/** A reservation that was created by hand has no `state` and no `attempt`. */
export interface Reservation extends Fields {
  readonly _id: unknown
  /** The main document's `_id` if `_id` is not. */
  readonly owner?: unknown
  readonly state?: 'reserved' | 'confirmed'
  readonly attempt?: unknown
  readonly expiresAt?: Date
}

export const ownerOf = (reservation: Reservation): unknown =>
  'owner' in reservation ? reservation.owner : reservation._id

export const isReserved = ({ state }: Reservation): boolean => state === 'reserved'

/** When an incomplete write has to be complete; null: it is. */
export const untilOf = (reservation: Reservation): Date | null =>
  isReserved(reservation) ? (reservation.expiresAt ?? new Date(0)) : null

export const isExpired = ({ expiresAt }: Reservation, nowMs: number): boolean =>
  expiresAt === undefined || expiresAt.getTime() < nowMs

/**
 * null: the reservation holds no values for the spec. A document of a sharded proxy always does.
 */
export function heldValues(proxy: Proxy, reservation: Reservation, spec: UniqueSpec): unknown[] | null {
  const values = rawValuesOf(spec, reservation)
  if (!proxy.sharded && values.every((value) => value === undefined)) return null
  return values.map((value) => value ?? null)
}

export const heldSpecs = (proxy: Proxy, reservation: Reservation): UniqueSpec[] =>
  proxy.specs.filter((spec) => heldValues(proxy, reservation, spec) !== null)

export function valueFilter(proxy: Proxy, spec: UniqueSpec, values: readonly unknown[]): Fields {
  // With several specs in one proxy, a missing field means no reservation, and null a reservation
  // of null.
  const nothing = proxy.sharded ? { $eq: null } : { $eq: null, $exists: true }
  return Object.fromEntries(spec.fields.map((field, i) => [field, values[i] === null ? nothing : { $eq: values[i] }]))
}

/** Matches only if no other attempt has changed the reservation. */
export function identityFilter(proxy: Proxy, reservation: Reservation): Fields {
  const { _id, attempt } = reservation
  const key = proxy.sharded ? valueFilter(proxy, proxy.specs[0]!, heldValues(proxy, reservation, proxy.specs[0]!)!) : {}
  return { ...key, _id: { $eq: _id }, attempt: attempt === undefined ? { $exists: false } : { $eq: attempt } }
}

export const ownerFilter = (owner: unknown): Fields => ({
  $or: [{ owner: { $eq: owner } }, { _id: { $eq: owner }, owner: { $exists: false } }],
})

export const optionsOf = ({ collation }: UniqueSpec): PortOptions => (collation === null ? {} : { collation })

export function lookup(proxy: Proxy, spec: UniqueSpec, values: readonly unknown[]): Promise<Reservation | null> {
  return proxy.port.findOne(valueFilter(proxy, spec, values), optionsOf(spec)) as Promise<Reservation | null>
}

/** Compares more than `_id`: shards of a proxy may have documents with the same `_id`. */
export function sameReservation(proxy: Proxy, a: Reservation, b: Reservation): boolean {
  return (
    sameValue(a._id, b._id) &&
    (!proxy.sharded || sameValue(heldValues(proxy, a, proxy.specs[0]!), heldValues(proxy, b, proxy.specs[0]!)))
  )
}

export function newReservation(
  _id: unknown,
  owner: unknown,
  wanted: ReadonlyMap<UniqueSpec, readonly unknown[]>,
  { attempt, expiresAt }: { attempt: unknown; expiresAt: Date },
): Reservation {
  const reservation: Fields = sameValue(_id, owner) ? { _id } : { _id, owner }
  for (const [spec, values] of wanted) values.forEach((value, i) => setAt(reservation, spec.fields[i]!, value))
  return { ...reservation, _id, state: 'reserved', attempt, expiresAt }
}
