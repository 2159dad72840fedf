/** Reservations and document are committed in one transaction, so no confirmation is needed. */
import type { Values } from './attempt.js'
import { BusyDocumentError, ValueTakenError } from '../errors.js'
import { causeOf, kindOf, PortError, type Fields } from '../port.js'
import { changedValues, type Change, type Changed } from './change.js'
import {
  heldSpecs,
  heldValues,
  identityFilter,
  isExpired,
  isReserved,
  lookup,
  newReservation,
  ownerOf,
  untilOf,
  type Proxy,
  type Reservation,
} from '../proxy.js'
import { resolve } from './resolve.js'
import { guardOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { sameValue } from '../values.js'
import type { TransactionScope, World } from '../world.js'
import { refuseUnreserved, refuseUnsearchable } from './unreserved.js'

/** Ends the transaction; the conflict is resolved outside. */
class ReservationConflict extends Error {
  readonly proxy: Proxy
  readonly owner: unknown
  readonly wanted: ReadonlyMap<UniqueSpec, Values>

  constructor(proxy: Proxy, owner: unknown, wanted: ReadonlyMap<UniqueSpec, Values>) {
    super('a reservation conflicts with the write')
    this.proxy = proxy
    this.owner = owner
    this.wanted = wanted
  }
}

export function insertInTransaction(
  world: World,
  document: Fields,
  wanted: ReadonlyMap<UniqueSpec, Values>,
  building: readonly UniqueSpec[],
  write: (scope: TransactionScope) => Promise<unknown>,
): Promise<true | 'refused'> {
  return retryConflicts(world, async (scope) => {
    await reserveAll(world, scope, document['_id'], wanted)
    await refuseUnreserved(world, scope.main, document['_id'], building, wanted)
    await write(scope)
    return true as const
  })
}

export async function changeInTransaction<R>(
  world: World,
  building: readonly UniqueSpec[],
  { find, plan, write }: Change<R>,
): Promise<Changed<R> | null | 'refused'> {
  return retryConflicts(world, async (scope): Promise<Changed<R> | null> => {
    const before = await find(scope)
    if (before === null) return null
    const { touched, after } = plan(before)
    const { gained, lost } = changedValues(touched, before, after)
    for (const proxy of scope.proxies) {
      for (const spec of proxy.specs) if (lost.has(spec)) await release(proxy, spec, lost.get(spec)!, before['_id'])
    }
    refuseUnsearchable(building, gained)
    await reserveAll(world, scope, before['_id'], gained)
    await refuseUnreserved(world, scope.main, before['_id'], building, gained)
    const result = await write(before, guardOf(touched, before), scope)
    // In a transaction the document cannot change between read and write.
    if (result === null)
      throw new PortError('refused', 'the document that the transaction has read no longer matches the filter')
    return { before, result }
  })
}

async function reserveAll(
  world: World,
  scope: TransactionScope,
  owner: unknown,
  wanted: ReadonlyMap<UniqueSpec, Values>,
): Promise<void> {
  for (const proxy of scope.proxies) {
    const here = new Map([...wanted].filter(([spec]) => proxy.specs.includes(spec)))
    if (here.size === 0) continue
    const attempt = world.newToken()
    // A failed insert would abort the transaction, so the `_id` has to be free.
    const _id = (await proxy.port.findOne({ _id: { $eq: owner } })) === null ? owner : attempt
    const { expiresAt: _, ...reservation } = newReservation(_id, owner, here, { attempt, expiresAt: new Date(0) })
    try {
      await proxy.port.insertOne({ ...reservation, state: 'confirmed' })
    } catch (error) {
      if (kindOf(error) === 'duplicate') throw new ReservationConflict(proxy, owner, here)
      throw error
    }
  }
}

async function release(proxy: Proxy, spec: UniqueSpec, values: Values, owner: unknown): Promise<void> {
  const held = await lookup(proxy, spec, values)
  if (held === null || !sameValue(ownerOf(held), owner)) return
  // A write without a transaction is changing this document.
  if (isReserved(held)) throw new ReservationConflict(proxy, owner, new Map([[spec, values]]))
  const filter = identityFilter(proxy, held)
  const remaining = heldSpecs(proxy, held).filter((each) => each !== spec)
  if (remaining.length === 0) await proxy.port.deleteOne(filter)
  else await proxy.port.updateOne(filter, { $unset: Object.fromEntries(spec.fields.map((field) => [field, ''])) })
}

async function retryConflicts<T>(world: World, body: (scope: TransactionScope) => Promise<T>): Promise<T | 'refused'> {
  const deadlineMs = world.clock.now() + world.busyMs
  for (;;) {
    try {
      const outcome = await world.transactions!.run(body)
      return outcome.refused ? 'refused' : outcome.result
    } catch (error) {
      if (!(error instanceof ReservationConflict)) throw causeOf(error)
      await resolveConflict(world, error)
      if (world.clock.now() >= deadlineMs) throw new BusyDocumentError(error.owner)
      await world.clock.sleep(10)
    }
  }
}

/** @throws ValueTakenError when another document holds one of the values */
async function resolveConflict(world: World, { proxy: { name }, owner, wanted }: ReservationConflict): Promise<void> {
  const proxy = world.proxies.find((each) => each.name === name)!
  for (const [spec, values] of wanted) {
    const holder: Reservation | null = await lookup(proxy, spec, values)
    if (holder === null) continue
    if (isReserved(holder) && isExpired(holder, world.clock.now())) await resolve(world, proxy, holder)
    else if (!isReserved(holder) || !sameValue(ownerOf(holder), owner)) {
      world.tell({ event: 'conflict', owner: ownerOf(holder), fields: [spec.name] })
      throw new ValueTakenError(spec, heldValues(proxy, holder, spec)!, ownerOf(holder), untilOf(holder))
    }
  }
}
