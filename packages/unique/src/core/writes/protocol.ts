/**
 * The protocol of the README's state table. The `write` functions write the main collection; they
 * reject with a PortError.
 */
import { Attempt, type Values } from './attempt.js'
import { changedValues, oldValues, type Change, type Changed } from './change.js'
import { BusyDocumentError, DuplicateValueError, ReservationLostError, UnknownOutcomeError } from '../errors.js'
import { causeOf, kindOf, type Fields } from '../port.js'
import { isExpired, isReserved, lookup, ownerOf, type Proxy } from '../proxy.js'
import { guardOf, rawValuesOf, reservedValuesOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { changeInTransaction, insertInTransaction } from './transaction.js'
import { sameValue } from '../values.js'
import { readMain, repeated, type TransactionScope, type World } from '../world.js'

/** For changes whose document another write has changed, and inserts whose reservations expired. */
const maxTries = 30

export class UniqueProtocol {
  readonly #world: World
  #transactionsRefused = false

  constructor(world: World) {
    this.#world = world
  }

  /**
   * @param document must have an `_id`
   * @throws DuplicateValueError, InvalidValueError, BusyDocumentError, UnknownOutcomeError,
   * ReservationLostError, or the driver's error
   */
  async insert(document: Fields, write: (scope: TransactionScope | null) => Promise<unknown>): Promise<void> {
    const wanted = this.#valuesOf(document, this.#world.specs)
    if (wanted.size === 0) return void (await withDriverErrors(() => write(null)))
    if (await this.#transacted((world) => insertInTransaction(world, document, wanted, write))) return
    for (let tries = 1; ; tries++) {
      const attempt = new Attempt(this.#world, document['_id'], 'insert')
      await this.#reserving(attempt, () => this.#reserveAll(attempt, wanted))
      const happened = (main: Fields | null): boolean => main !== null && this.#has(main, wanted)
      const written = await this.#written(attempt, () => write(null).then(() => true as const), happened)
      if (written === null) {
        if (tries === maxTries) throw new BusyDocumentError(attempt.owner)
        continue
      }
      const missing = await attempt.finish()
      if (missing.length > 0) await this.#recover(attempt, wanted, missing, async () => this.#undoInsert(document))
      return
    }
  }

  /**
   * @returns null: no document matched
   * @throws as `insert`
   */
  async change<R>({ find, plan, write }: Change<R>): Promise<Changed<R> | null> {
    const transacted = await this.#transacted((world) => changeInTransaction(world, { find, plan, write }))
    if (transacted) return transacted.result
    let owner: unknown = null
    for (let tries = 1; tries <= maxTries; tries++) {
      const before = await withDriverErrors(() => repeated(this.#world.clock, () => find(null)))
      if (before === null) return null
      const { touched, after } = plan(before)
      const guard = guardOf(touched, before)
      const { gained, lost } = changedValues(touched, before, after)
      owner = before['_id']
      if (gained.size + lost.size === 0) {
        const result = await withDriverErrors(() => write(before, guard, null))
        if (result !== null) return { before, result }
      } else {
        const attempt = new Attempt(this.#world, owner, 'change')
        await this.#reserving(attempt, async () => {
          await this.#reserveAll(attempt, gained)
          for (const proxy of this.#world.proxies) {
            for (const spec of proxy.specs) if (lost.has(spec)) await attempt.demote(proxy, spec, lost.get(spec)!)
          }
        })
        const happened = (main: Fields | null): boolean =>
          after === null ? main === null : main !== null && sameFields(main, after, [...gained.keys(), ...lost.keys()])
        const written = await this.#written(attempt, () => write(before, guard, null), happened)
        if (written !== null) {
          const missing = await attempt.finish()
          if (missing.length > 0) await this.#recover(attempt, gained, missing, async () => false)
          return { before, result: written.result }
        }
      }
      await this.#world.clock.sleep(Math.min(tries, 10))
    }
    throw new BusyDocumentError(owner)
  }

  /**
   * Reserves the values of an existing document, and confirms them if it still has them. @throws as
   * `insert`
   */
  async adopt(document: Fields): Promise<'reserved' | 'already' | 'changed'> {
    const { main, clock, proxies } = this.#world
    const wanted = this.#valuesOf(document, this.#world.specs)
    for (const proxy of proxies) {
      for (const spec of proxy.specs) {
        if (wanted.has(spec) && (await isHeldBy(this.#world, proxy, spec, wanted.get(spec)!, document['_id'])))
          wanted.delete(spec)
      }
    }
    if (wanted.size === 0) return 'already'
    const attempt = new Attempt(this.#world, document['_id'], 'adopt')
    await this.#reserving(attempt, () => this.#reserveAll(attempt, wanted))
    const now = await readMain({ main, clock }, document['_id'])
    if (now === null || !this.#has(now, wanted)) {
      await attempt.compensate()
      return 'changed'
    }
    const missing = await attempt.finish()
    if (missing.length > 0) await this.#recover(attempt, wanted, missing, async () => false)
    return 'reserved'
  }

  async #reserveAll(attempt: Attempt, wanted: ReadonlyMap<UniqueSpec, Values>): Promise<void> {
    for (const proxy of this.#world.proxies) {
      const here = new Map([...wanted].filter(([spec]) => proxy.specs.includes(spec)))
      if (here.size > 0) await attempt.reserve(proxy, here)
    }
  }

  /** If an error occurs before the main write, undoes the reservations. */
  async #reserving(attempt: Attempt, reserve: () => Promise<void>): Promise<void> {
    try {
      await reserve()
    } catch (error) {
      await attempt.compensate()
      throw causeOf(error)
    }
  }

  /**
   * Runs the main write, and repeats it while its outcome is unknown.
   * @returns null: it was certainly not done, and its reservations were undone
   */
  async #written<R>(
    attempt: Attempt,
    write: () => Promise<R | null>,
    happened: (main: Fields | null) => boolean,
  ): Promise<{ readonly result: R | null } | null> {
    let answered = true
    attempt.keepAlive()
    for (let tries = 1; ; tries++) {
      // Renewing may take so long that it must be repeated.
      while (!attempt.fresh) {
        if (await attempt.renew().catch(() => false)) continue
        // Another document may have taken the values.
        if (!answered) throw await this.#unknown(attempt, null)
        await attempt.compensate()
        return null
      }
      try {
        const result = await write()
        if (result !== null) return { result }
      } catch (error) {
        const kind = kindOf(error)
        if (kind === null) throw await this.#unknown(attempt, error)
        if (kind === 'unknown') {
          answered = false
          if (tries === 4) throw await this.#unknown(attempt, causeOf(error))
          await this.#world.clock.sleep(25 * 2 ** tries)
          continue
        }
        if (answered || !happened(await this.#readAfter(attempt))) {
          await attempt.compensate()
          throw causeOf(error)
        }
        return { result: null }
      }
      if (!answered && happened(await this.#readAfter(attempt))) return { result: null }
      await attempt.compensate()
      return null
    }
  }

  async #readAfter(attempt: Attempt): Promise<Fields | null> {
    try {
      return await readMain(this.#world, attempt.owner)
    } catch (error) {
      throw await this.#unknown(attempt, causeOf(error))
    }
  }

  async #unknown(attempt: Attempt, cause: unknown): Promise<UnknownOutcomeError> {
    await attempt.abandon()
    return new UnknownOutcomeError(attempt.owner, cause)
  }

  /**
   * Called when reservations to confirm no longer exist. If the values are free, or the document
   * has new values, nothing is wrong. Otherwise the write is undone if possible.
   * @throws ReservationLostError
   */
  async #recover(
    attempt: Attempt,
    wanted: ReadonlyMap<UniqueSpec, Values>,
    missing: readonly UniqueSpec[],
    undo: () => Promise<boolean>,
  ): Promise<void> {
    const main = await readMain(this.#world, attempt.owner)
    const lost = new Map([...wanted].filter(([spec]) => missing.includes(spec)))
    if (main === null || !this.#has(main, lost)) return
    const again = new Attempt(this.#world, attempt.owner, 'change')
    try {
      await this.#reserveAll(again, lost)
    } catch (error) {
      await again.compensate()
      // Another attempt for the same document handles its values.
      if (error instanceof BusyDocumentError) return
      if (!(error instanceof DuplicateValueError)) throw causeOf(error)
      throw new ReservationLostError(attempt.owner, await undo())
    }
    await again.finish()
  }

  async #undoInsert(document: Fields): Promise<boolean> {
    const { main, clock, specs } = this.#world
    const filter = { _id: { $eq: document['_id'] }, ...guardOf(specs, document) }
    const undone = await repeated(clock, () => main.deleteOne(filter)).catch(() => 0)
    if (undone === 0) return false
    const attempt = new Attempt(this.#world, document['_id'], 'adopt')
    const held = this.#valuesOf(document, specs)
    for (const proxy of this.#world.proxies) {
      for (const spec of proxy.specs)
        if (held.has(spec)) await attempt.demote(proxy, spec, held.get(spec)!).catch(() => {})
    }
    await attempt.compensate()
    return true
  }

  #valuesOf(document: Fields, specs: readonly UniqueSpec[]): Map<UniqueSpec, Values> {
    const values = new Map<UniqueSpec, Values>()
    for (const spec of specs) {
      const reserved = reservedValuesOf(spec, document)
      if (reserved !== null) values.set(spec, reserved)
    }
    return values
  }

  #has(main: Fields, wanted: ReadonlyMap<UniqueSpec, Values>): boolean {
    return [...wanted].every(([spec, values]) => sameValue(oldValues(spec, main), values))
  }

  /** @returns null: transactions are off or refused by the deployment */
  async #transacted<T>(body: (world: World) => Promise<T | 'refused'>): Promise<{ readonly result: T } | null> {
    if (this.#world.transactions === null || this.#transactionsRefused) return null
    const result = await body(this.#world)
    if (result !== 'refused') return { result }
    this.#transactionsRefused = true
    return null
  }
}

async function isHeldBy(
  world: World,
  proxy: Proxy,
  spec: UniqueSpec,
  values: Values,
  owner: unknown,
): Promise<boolean> {
  const holder = await repeated(world.clock, () => lookup(proxy, spec, values))
  return (
    holder !== null &&
    !(isReserved(holder) && isExpired(holder, world.clock.now())) &&
    sameValue(ownerOf(holder), owner)
  )
}

function sameFields(main: Fields, after: Fields, specs: readonly UniqueSpec[]): boolean {
  return specs.every((spec) => sameValue(rawValuesOf(spec, main), rawValuesOf(spec, after)))
}

async function withDriverErrors<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw causeOf(error)
  }
}
