/**
 * The protocol of the README's state table. The `write` functions write the main collection; they
 * reject with a PortError.
 */
import { adopt } from './adopt.js'
import { Attempt, maxTries } from './attempt.js'
import { changedValues, type Change, type Changed } from './change.js'
import { Enforcement } from '../enforcement.js'
import { BusyDocumentError, UnknownOutcomeError } from '../errors.js'
import { causeOf, kindOf, type Fields } from '../port.js'
import { recover, undoInsert } from './recover.js'
import { guardOf, rawValuesOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { demoteAll, hasValues, reserveAll, reserving, valuesOf } from './steps.js'
import { changeInTransaction, insertInTransaction } from './transaction.js'
import { refuseUnreserved, refuseUnsearchable } from './unreserved.js'
import { sameValue } from '../values.js'
import { readMain, repeated, type TransactionScope, type World } from '../world.js'

export class UniqueProtocol {
  readonly enforcement: Enforcement
  readonly #world: World
  #refused: string | null = null

  constructor(world: World) {
    this.#world = world
    this.enforcement = new Enforcement(world)
  }

  /** Why the deployment has no transactions; null: no reason is known. */
  get transactionsRefused(): string | null {
    return this.#refused
  }

  /** From now on, writes make reservations and confirm them. */
  refuseTransactions(reason: string): void {
    this.#refused = reason
  }

  /**
   * @param document must have an `_id`
   * @param session in whose transaction the caller runs the write; null: the write has its own
   * @throws ValueTakenError, BackfillRequiredError, InvalidValueError, BusyDocumentError,
   * UnknownOutcomeError, ReservationLostError, or the driver's error
   */
  async insert(
    document: Fields,
    write: (scope: TransactionScope | null) => Promise<unknown>,
    session: unknown = null,
  ): Promise<void> {
    const wanted = valuesOf(this.#world.specs, document)
    if (wanted.size === 0) return void (await withDriverErrors(() => write(null)))
    const building = await this.#building()
    refuseUnsearchable(building, wanted)
    const transacted = await this.#transacted(session, (world) =>
      insertInTransaction(world, session, document, wanted, building, write),
    )
    if (transacted !== null) return
    for (let tries = 1; ; tries++) {
      const attempt = new Attempt(this.#world, document['_id'], 'insert')
      await reserving(attempt, async () => {
        await reserveAll(this.#world, attempt, wanted)
        await refuseUnreserved(this.#world, this.#world.main, attempt.owner, building, wanted)
      })
      const happened = (main: Fields | null): boolean => main !== null && hasValues(main, wanted)
      const written = await this.#written(attempt, () => write(null).then(() => true as const), happened)
      if (written === null) {
        if (tries === maxTries) throw new BusyDocumentError(attempt.owner)
        continue
      }
      const missing = await attempt.finish()
      if (missing.length > 0)
        await recover(this.#world, attempt, wanted, missing, async () => undoInsert(this.#world, document))
      return
    }
  }

  /**
   * @returns null: no document matched
   * @throws as `insert`
   */
  async change<R>({ find, plan, write }: Change<R>, session: unknown = null): Promise<Changed<R> | null> {
    const building = await this.#building()
    const transacted = await this.#transacted(session, (world) =>
      changeInTransaction(world, session, building, { find, plan, write }),
    )
    if (transacted !== null) return transacted.result
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
        refuseUnsearchable(building, gained)
        const attempt = new Attempt(this.#world, owner, 'change')
        await reserving(attempt, async () => {
          await reserveAll(this.#world, attempt, gained)
          await refuseUnreserved(this.#world, this.#world.main, owner, building, gained)
          await demoteAll(this.#world, attempt, lost)
        })
        const happened = (main: Fields | null): boolean =>
          after === null ? main === null : main !== null && sameFields(main, after, [...gained.keys(), ...lost.keys()])
        const written = await this.#written(attempt, () => write(before, guard, null), happened)
        if (written !== null) {
          // A backfill may have reserved the old values since.
          if (!attempt.holds(lost.keys())) await demoteAll(this.#world, attempt, lost).catch(onlyOfProtocol)
          const missing = await attempt.finish()
          if (missing.length > 0) await recover(this.#world, attempt, gained, missing, async () => false)
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
  adopt(document: Fields): Promise<'reserved' | 'already' | 'changed'> {
    return adopt(this.#world, document)
  }

  #building(): Promise<readonly UniqueSpec[]> {
    return withDriverErrors(() => this.enforcement.building())
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

  /** @returns null: transactions are off or refused by the deployment */
  async #transacted<T>(
    session: unknown,
    body: (world: World) => Promise<{ readonly refused: null; readonly result: T } | { readonly refused: string }>,
  ): Promise<{ readonly result: T } | null> {
    if (this.#world.transactions === null || (this.#refused !== null && session === null)) return null
    const outcome = await body(this.#world)
    if (outcome.refused === null) return outcome
    this.#refused = outcome.refused
    return null
  }
}

function sameFields(main: Fields, after: Fields, specs: readonly UniqueSpec[]): boolean {
  return specs.every((spec) => sameValue(rawValuesOf(spec, main), rawValuesOf(spec, after)))
}

/** A sweep or a repair does the step that failed. */
function onlyOfProtocol(error: unknown): void {
  if (kindOf(error) === null && !(error instanceof BusyDocumentError)) throw error
}

async function withDriverErrors<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw causeOf(error)
  }
}
