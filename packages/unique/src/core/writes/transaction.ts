/**
 * Reservations and document are committed in one transaction, so no confirmation is needed, and a
 * crash leaves nothing.
 */
import type { Values } from './attempt.js'
import { BusyDocumentError, RetryTransactionError, UnknownOutcomeError, ValueTakenError } from '../errors.js'
import { causeOf, kindOf, PortError, type Fields } from '../port.js'
import { changedValues, type Change, type Changed } from './change.js'
import {
  heldSpecs,
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
import { repeated, type TransactionScope, type World } from '../world.js'
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

interface Statements extends TransactionScope {
  /**
   * Whether a reservation of the same document may exist: after a conflict, and in a transaction of
   * the caller, which cannot be repeated here.
   */
  readonly careful: boolean
}

/** @param callerSession of the caller's transaction; null: the write has one of its own */
export function insertInTransaction(
  world: World,
  callerSession: unknown,
  document: Fields,
  wanted: ReadonlyMap<UniqueSpec, Values>,
  building: readonly UniqueSpec[],
  write: (scope: TransactionScope) => Promise<unknown>,
): Promise<Outcome<true>> {
  const owner = document['_id']
  return runWrite(
    world,
    callerSession,
    () => owner,
    async (statements) => {
      await reserveAll(world, statements, owner, wanted, statements.careful ? world.newToken() : owner)
      await refuseUnreserved(world, statements.main, owner, building, wanted)
      await write(statements)
      return true as const
    },
  )
}

export function changeInTransaction<R>(
  world: World,
  callerSession: unknown,
  building: readonly UniqueSpec[],
  { find, plan, write }: Change<R>,
): Promise<Outcome<Changed<R> | null>> {
  let owner: unknown = null
  return runWrite(
    world,
    callerSession,
    () => owner,
    async (statements): Promise<Changed<R> | null> => {
      const before = await find(statements)
      if (before === null) return null
      owner = before['_id']
      const { touched, after } = plan(before)
      const { gained, lost } = changedValues(touched, before, after)
      refuseUnsearchable(building, gained)
      for (const proxy of statements.proxies)
        for (const spec of proxy.specs) if (lost.has(spec)) await lose(world, proxy, spec, lost.get(spec)!, owner)
      await reserveAll(world, statements, owner, gained, world.newToken())
      await refuseUnreserved(world, statements.main, owner, building, gained)
      const result = await write(before, guardOf(touched, before), statements)
      // In a transaction the document cannot change between read and write.
      if (result === null)
        throw new PortError('refused', 'the document that the transaction has read no longer matches the filter')
      return { before, result }
    },
  )
}

async function reserveAll(
  world: World,
  { proxies, careful }: Statements,
  owner: unknown,
  wanted: ReadonlyMap<UniqueSpec, Values>,
  _id: unknown,
): Promise<void> {
  for (const proxy of proxies) {
    const here = new Map([...wanted].filter(([spec]) => proxy.specs.includes(spec)))
    if (here.size === 0) continue
    if (careful) for (const [spec, values] of here) await release(proxy, spec, values, owner)
    await insert(world, proxy, _id, owner, here)
  }
}

async function insert(
  world: World,
  proxy: Proxy,
  _id: unknown,
  owner: unknown,
  wanted: ReadonlyMap<UniqueSpec, Values>,
): Promise<Reservation> {
  const { expiresAt: _, ...fields } = newReservation(_id, owner, wanted, {
    attempt: world.newToken(),
    expiresAt: new Date(0),
  })
  const reservation = { ...fields, state: 'confirmed' } as Reservation
  try {
    await proxy.port.insertOne(reservation)
  } catch (error) {
    if (kindOf(error) === 'duplicate') throw new ReservationConflict(proxy, owner, wanted)
    throw error
  }
  return reservation
}

/** Releases a value that the document is about to lose. */
async function lose(world: World, proxy: Proxy, spec: UniqueSpec, values: Values, owner: unknown): Promise<void> {
  if (await release(proxy, spec, values, owner)) return
  // A backfill may be about to reserve it. With a write of the same key, it has to wait for the end
  // of the transaction, and then reads the document again.
  const reservation = await insert(world, proxy, world.newToken(), owner, new Map([[spec, values]]))
  await proxy.port.deleteOne(identityFilter(proxy, reservation))
}

/** @returns false: the value is not reserved */
async function release(proxy: Proxy, spec: UniqueSpec, values: Values, owner: unknown): Promise<boolean> {
  const held = await lookup(proxy, spec, values)
  if (held === null) return false
  if (!sameValue(ownerOf(held), owner)) return true
  // A write without a transaction is changing this document.
  if (isReserved(held)) throw new ReservationConflict(proxy, owner, new Map([[spec, values]]))
  const filter = identityFilter(proxy, held)
  const remaining = heldSpecs(proxy, held).filter((each) => each !== spec)
  if (remaining.length === 0) await proxy.port.deleteOne(filter)
  else await proxy.port.updateOne(filter, { $unset: Object.fromEntries(spec.fields.map((field) => [field, ''])) })
  return true
}

/** `refused`: why the deployment has no transactions; null: it has them. */
type Outcome<T> = { readonly refused: null; readonly result: T } | { readonly refused: string }

async function runWrite<T>(
  world: World,
  callerSession: unknown,
  ownerOfWrite: () => unknown,
  body: (statements: Statements) => Promise<T>,
): Promise<Outcome<T>> {
  const deadlineMs = world.clock.now() + world.busyMs
  for (let careful = callerSession !== null; ; careful = true) {
    let ofBody: unknown = null
    const run = (scope: TransactionScope): Promise<T> =>
      body({ ...scope, careful }).catch((error: unknown) => {
        ofBody = error
        throw error
      })
    try {
      if (callerSession === null) return await world.transactions!.run(run)
      return { refused: null, result: await world.transactions!.within(callerSession, run) }
    } catch (error) {
      // Only a commit without an answer leaves the outcome unknown.
      if (callerSession === null && error !== ofBody && kindOf(error) === 'unknown')
        throw new UnknownOutcomeError(ownerOfWrite(), causeOf(error))
      if (!(error instanceof ReservationConflict)) throw causeOf(error)
      await resolveConflict(world, error)
      if (callerSession !== null) throw new RetryTransactionError(error.owner)
      if (world.clock.now() >= deadlineMs) throw new BusyDocumentError(error.owner)
      await world.clock.sleep(10)
    }
  }
}

/** @throws ValueTakenError when another document holds one of the values */
async function resolveConflict(world: World, { proxy: { name }, owner, wanted }: ReservationConflict): Promise<void> {
  const proxy = world.proxies.find((each) => each.name === name)!
  for (const [spec, values] of wanted) {
    const holder = await repeated(world.clock, () => lookup(proxy, spec, values))
    if (holder === null) continue
    if (isReserved(holder) && isExpired(holder, world.clock.now())) await resolve(world, proxy, holder)
    else if (!sameValue(ownerOf(holder), owner)) {
      world.tell({ event: 'conflict', owner: ownerOf(holder), fields: [spec.name] })
      throw new ValueTakenError(spec, values, ownerOf(holder), untilOf(holder))
    }
  }
}
