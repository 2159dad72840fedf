import { BusyDocumentError, ValueTakenError } from '../errors.js'
import { kindOf } from '../port.js'
import {
  heldSpecs,
  identityFilter,
  isExpired,
  isReserved,
  lookup,
  newReservation,
  optionsOf,
  ownerFilter,
  ownerOf,
  untilOf,
  valueFilter,
  type Proxy,
  type Reservation,
} from '../proxy.js'
import { HeldReservations } from './held.js'
import { resolve, finishReservation } from './resolve.js'
import type { UniqueSpec } from '../specs/spec.js'
import { sameValue } from '../values.js'
import { readMain, repeated, type UniqueEventName, type World } from '../world.js'

export type Values = readonly unknown[]

/** For changes whose document another write has changed, and inserts whose reservations expired. */
export const maxTries = 30

/**
 * `insert`: the main document does not exist; `change`: it has reservations and will exchange them
 * for others; `adopt`: it may have none.
 */
export type Purpose = 'insert' | 'change' | 'adopt'

export class Attempt {
  readonly owner: unknown
  readonly #world: World
  readonly #token: unknown
  readonly #purpose: Purpose
  readonly #held = new HeldReservations()
  /** When the oldest of the reservations was created or renewed. */
  #freshAt: number
  #cancelRenewal: () => void = () => {}
  #renewal: Promise<unknown> = Promise.resolve()

  constructor(world: World, owner: unknown, purpose: Purpose) {
    this.#world = world
    this.owner = owner
    this.#purpose = purpose
    this.#token = world.newToken()
    this.#freshAt = world.clock.now()
  }

  /**
   * Whether the main document may still be written: half of the lifetime must remain, for the write
   * to reach the server.
   */
  get fresh(): boolean {
    return this.#world.clock.now() <= this.#freshAt + this.#world.reservationMs / 2
  }

  /**
   * @throws ValueTakenError when another document has one of the values
   * @throws BusyDocumentError when another attempt for the same document holds one
   */
  async reserve(proxy: Proxy, values: ReadonlyMap<UniqueSpec, Values>): Promise<void> {
    const wanted = new Map(values)
    // During a change a document has two reservations. With the same `_id` they could not be on one
    // shard, and chunks must be able to move.
    let _id = this.#purpose === 'change' ? this.#token : this.owner
    const deadline = this.#deadline()
    while (wanted.size > 0) {
      const reservation = newReservation(_id, this.owner, wanted, { attempt: this.#token, expiresAt: this.#expiry() })
      if (await this.#insert(proxy, reservation)) {
        this.#held.add(proxy, reservation, true, heldSpecs(proxy, reservation))
        break
      }
      let conflict = false
      let busy = false
      for (const [spec, wantedValues] of wanted) {
        const holder = await this.#lookup(proxy, spec, wantedValues)
        if (holder === null) continue
        conflict = true
        if (wanted.has(spec) && (await this.#claim(proxy, spec, wantedValues, holder, wanted))) busy = true
      }
      // The values are free, so the conflict is about the _id: a reservation of another value for
      // the same document has it.
      if (!conflict && (await this.#isTaken(proxy))) _id = this.#token
      if (busy) await this.#wait(deadline)
    }
    this.#emit('reserved', [...values.keys()])
  }

  /**
   * Sets the reservations of values that the main document is about to lose to *reserved*. Values
   * without a reservation of this document are skipped.
   * @throws BusyDocumentError when another attempt holds them for too long
   */
  async demote(proxy: Proxy, spec: UniqueSpec, values: Values): Promise<void> {
    const { clock } = this.#world
    const deadline = this.#deadline()
    for (;;) {
      const filter = { ...valueFilter(proxy, spec, values), ...ownerFilter(this.owner), state: { $ne: 'reserved' } }
      const taken = await repeated(clock, () =>
        proxy.port.findOneAndUpdate(filter, { $set: this.#mark() }, optionsOf(spec)),
      )
      const holder = (taken as Reservation | null) ?? (await this.#lookup(proxy, spec, values))
      if (holder === null || !sameValue(ownerOf(holder), this.owner)) return
      if (sameValue(holder.attempt, this.#token)) {
        const held = this.#held.add(proxy, holder, false, [])
        // The index may treat the new value and the old one as equal.
        if (!held.gained.has(spec)) held.lost.add(spec)
        return
      }
      if (isReserved(holder) && isExpired(holder, clock.now())) await resolve(this.#world, proxy, holder)
      else if (isReserved(holder)) await this.#wait(deadline)
    }
  }

  /** Whether it has reservations of all these specs, to keep or to release. */
  holds(specs: Iterable<UniqueSpec>): boolean {
    return this.#held.covers(specs)
  }

  keepAlive(): void {
    const { clock, reservationMs } = this.#world
    if (clock.after === undefined || this.#held.size === 0) return
    const beat = (): void => {
      // A lost reservation is detected when it is confirmed.
      this.#renewal = this.renew().catch(() => {})
      this.#cancelRenewal = clock.after!(reservationMs / 3, beat)
    }
    this.#cancelRenewal = clock.after(reservationMs / 3, beat)
  }

  /** @returns false: one is lost */
  async renew(): Promise<boolean> {
    const freshAt = this.#world.clock.now()
    const $set = { expiresAt: this.#expiry() }
    for (const held of this.#held.all) {
      const { proxy, reservation } = held
      const filter = { ...identityFilter(proxy, reservation), state: 'reserved' }
      if ((await repeated(this.#world.clock, () => proxy.port.updateOne(filter, { $set }))) === 0) return false
      held.reservation = { ...reservation, ...$set }
    }
    this.#freshAt = freshAt
    return true
  }

  /** Call only if the main document was certainly not written. A sweep does the steps that fail. */
  async compensate(): Promise<void> {
    await this.abandon()
    if (this.#held.size > 0) this.#emit('compensated', this.#held.specs)
    for (const { proxy, reservation, created } of this.#held.all) {
      await this.#leaveToSweep(async () => {
        if (created) await finishReservation(this.#world, proxy, reservation, heldSpecs(proxy, reservation))
        else await resolve(this.#world, proxy, reservation)
      })
    }
  }

  /**
   * Call after the main document was written: confirms gained values, releases lost ones.
   * @returns the specs whose reservations no longer exist
   */
  async finish(): Promise<UniqueSpec[]> {
    await this.abandon()
    const missing: UniqueSpec[] = []
    // Gained values first: they must not be given to another document.
    for (const { proxy, reservation, gained, lost } of this.#held.gainedFirst) {
      await this.#leaveToSweep(async () => {
        if (!(await finishReservation(this.#world, proxy, reservation, [...lost]))) missing.push(...gained)
        else {
          this.#emit('confirmed', [...gained])
          this.#emit('released', [...lost])
        }
      })
    }
    return missing
  }

  /** Stops renewing, and does nothing else. */
  abandon(): Promise<unknown> {
    this.#cancelRenewal()
    return this.#renewal
  }

  /**
   * Takes over a reservation that conflicts with a new one, and removes its specs from `wanted`; or
   * removes the reservation.
   * @returns true: another attempt for the same document holds it, so the caller has to wait
   */
  async #claim(
    proxy: Proxy,
    spec: UniqueSpec,
    values: Values,
    holder: Reservation,
    wanted: Map<UniqueSpec, Values>,
  ): Promise<boolean> {
    const expired = isReserved(holder) && isExpired(holder, this.#world.clock.now())
    if (sameValue(holder.attempt, this.#token)) {
      // An earlier insert of this attempt whose answer was lost. Or it took over a reservation of
      // the same document, which may have the values.
      const specs = heldSpecs(proxy, holder).filter((each) => wanted.has(each))
      this.#held.add(proxy, holder, false, specs)
      for (const each of specs) wanted.delete(each)
    } else if (expired) {
      await this.#sweep(proxy, holder)
    } else if (!sameValue(ownerOf(holder), this.owner)) {
      this.#emit('conflict', [spec])
      throw new ValueTakenError(spec, values, ownerOf(holder), untilOf(holder))
    } else if (!isReserved(holder)) {
      if (this.#purpose === 'insert' && (await readMain(this.#world, this.owner)) !== null) {
        this.#emit('conflict', [spec])
        throw new ValueTakenError(spec, values, this.owner, null)
      }
      // Left over from the same document, or a value that the index treats as equal.
      const filter = { ...identityFilter(proxy, holder), state: { $ne: 'reserved' } }
      const matched = await repeated(this.#world.clock, () => proxy.port.updateOne(filter, { $set: this.#mark() }))
      if (matched > 0) {
        this.#held.add(proxy, { ...holder, ...this.#mark() }, false, [spec])
        wanted.delete(spec)
      }
    } else {
      return true
    }
    return false
  }

  async #sweep(proxy: Proxy, holder: Reservation): Promise<void> {
    if ((await resolve(this.#world, proxy, holder)) !== null) {
      this.#world.tell({
        event: 'swept',
        owner: ownerOf(holder),
        fields: heldSpecs(proxy, holder).map(({ name }) => name),
      })
    }
  }

  async #insert(proxy: Proxy, reservation: Reservation): Promise<boolean> {
    try {
      await repeated(this.#world.clock, () => proxy.port.insertOne(reservation))
      return true
    } catch (error) {
      if (kindOf(error) === 'duplicate') return false
      throw error
    }
  }

  async #isTaken(proxy: Proxy): Promise<boolean> {
    return (await repeated(this.#world.clock, () => proxy.port.findOne({ _id: { $eq: this.owner } }))) !== null
  }

  #lookup(proxy: Proxy, spec: UniqueSpec, values: Values): Promise<Reservation | null> {
    return repeated(this.#world.clock, () => lookup(proxy, spec, values))
  }

  async #wait(deadlineMs: number): Promise<void> {
    const { clock } = this.#world
    if (clock.now() >= deadlineMs) throw new BusyDocumentError(this.owner)
    await clock.sleep(10)
  }

  /** For steps after the outcome is decided: a sweep does a step that gets no answer. */
  async #leaveToSweep(step: () => Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (kindOf(error) === null) throw error
      this.#emit('unsettled', this.#held.specs)
    }
  }

  #mark(): { state: 'reserved'; attempt: unknown; expiresAt: Date } {
    return { state: 'reserved', attempt: this.#token, expiresAt: this.#expiry() }
  }

  #expiry(): Date {
    return new Date(this.#world.clock.now() + this.#world.reservationMs)
  }

  #deadline(): number {
    return this.#world.clock.now() + this.#world.busyMs
  }

  #emit(event: UniqueEventName, specs: readonly UniqueSpec[]): void {
    if (specs.length > 0) this.#world.tell({ event, owner: this.owner, fields: specs.map(({ name }) => name) })
  }
}
