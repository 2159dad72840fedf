import { BusyDocumentError, DuplicateValueError, InvalidValueError } from './errors.js'
import { eachLimited } from './limited.js'
import type { Fields } from './port.js'
import type { UniqueProtocol } from './writes/protocol.js'
import {
  heldSpecs,
  heldValues,
  identityFilter,
  isExpired,
  isReserved,
  lookup,
  ownerOf,
  type Proxy,
  type Reservation,
} from './proxy.js'
import { hasHeldValue, resolve } from './writes/resolve.js'
import { reservedValuesOf } from './specs/spec-values.js'
import type { UniqueSpec } from './specs/spec.js'
import { sameValue } from './values.js'
import { readMain, repeated, type World } from './world.js'

/** `field` is the spec's name; `value` is the reserved value, an array for several fields. */
export type Finding =
  | {
      readonly kind: 'expired'
      readonly proxy: string
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
    }
  /** A confirmed reservation whose document is gone or has another value. */
  | {
      readonly kind: 'orphaned'
      readonly proxy: string
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
    }
  | { readonly kind: 'unreserved'; readonly owner: unknown; readonly field: string; readonly value: unknown }
  /** The value of a document is reserved for another one that does not have it. */
  | {
      readonly kind: 'disagreement'
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
      readonly holder: unknown
    }
  /** Two documents have the value. Not repairable. */
  | {
      readonly kind: 'duplicate'
      readonly owner: unknown
      readonly field: string
      readonly value: unknown
      readonly holder: unknown
    }
  /** The value cannot be reserved. Not repairable. */
  | { readonly kind: 'invalid'; readonly owner: unknown; readonly message: string }

export interface Progress {
  /** Documents and reservations checked so far. */
  readonly looked: number
}

export type OnProgress = (progress: Progress) => void

export interface BackfillReport {
  readonly documents: number
  /** `already`: reserved before this run. `changed`: changed or deleted during the run. */
  readonly reserved: number
  readonly already: number
  readonly changed: number
  /** Findings of the kinds `duplicate` and `invalid`. */
  readonly findings: readonly Finding[]
}

export interface VerifyReport {
  readonly documents: number
  readonly reservations: number
  /** Reservations of unfinished writes. */
  readonly inFlight: number
  readonly findings: readonly Finding[]
}

export interface RepairReport {
  readonly mended: number
  /** They need a decision of the user. */
  readonly left: readonly Finding[]
}

export interface SweepReport {
  readonly confirmed: number
  readonly released: number
}

const concurrency = 16

export class Maintenance {
  readonly #world: World
  readonly #protocol: UniqueProtocol

  constructor(world: World, protocol: UniqueProtocol) {
    this.#world = world
    this.#protocol = protocol
  }

  /** Skips documents that have reservations, so an interrupted run may be repeated. */
  async backfill(onProgress: OnProgress = () => {}): Promise<BackfillReport> {
    const counts = { reserved: 0, already: 0, changed: 0 }
    const findings: Finding[] = []
    let documents = 0
    await eachLimited(this.#world.main.find({}), concurrency, async (document) => {
      try {
        counts[await this.#protocol.adopt(document)]++
      } catch (error) {
        const finding = findingOf(document['_id'], error)
        if (finding === null) throw error
        findings.push(finding)
      }
      onProgress({ looked: ++documents })
    })
    return { documents, ...counts, findings }
  }

  /** Works during writes: unfinished writes are not findings. */
  async verify(onProgress: OnProgress = () => {}): Promise<VerifyReport> {
    const findings: Finding[] = []
    const { documents, reservations, inFlight } = await this.#examine(
      async (finding) => void findings.push(finding),
      onProgress,
    )
    return { documents, reservations, inFlight, findings }
  }

  /** Decides expired reservations, removes orphaned ones, and reserves unreserved values. */
  async repair(onProgress: OnProgress = () => {}): Promise<RepairReport> {
    const left: Finding[] = []
    let mended = 0
    const mend = async (
      finding: Finding,
      reservation: { proxy: Proxy; document: Reservation } | null,
    ): Promise<void> => {
      if (finding.kind === 'duplicate' || finding.kind === 'invalid') return void left.push(finding)
      try {
        if (reservation !== null) await this.#decide(reservation.proxy, reservation.document)
        if (finding.kind === 'unreserved' || finding.kind === 'disagreement') {
          const document = await readMain(this.#world, finding.owner)
          if (document !== null) await this.#protocol.adopt(document)
        }
        mended++
      } catch (error) {
        left.push(findingOf(finding.owner, error) ?? rethrown(error))
      }
    }
    await this.#examine(mend, onProgress)
    return { mended, left }
  }

  async sweep(onProgress: OnProgress = () => {}): Promise<SweepReport> {
    const report = { confirmed: 0, released: 0 }
    let looked = 0
    for (const proxy of this.#world.proxies) {
      const expired = proxy.port.find({ state: 'reserved', expiresAt: { $lt: new Date(this.#world.clock.now()) } })
      await eachLimited(expired as AsyncIterable<Reservation>, concurrency, async (reservation) => {
        const outcome = await this.#sweep(proxy, reservation)
        if (outcome !== null) report[outcome]++
        onProgress({ looked: ++looked })
      })
    }
    return report
  }

  async #examine(
    found: (finding: Finding, reservation: { proxy: Proxy; document: Reservation } | null) => Promise<void>,
    onProgress: OnProgress,
  ): Promise<{ documents: number; reservations: number; inFlight: number }> {
    const counts = { documents: 0, reservations: 0, inFlight: 0 }
    const looked = (): void => onProgress({ looked: counts.documents + counts.reservations })
    for (const proxy of this.#world.proxies) {
      await eachLimited(proxy.port.find({}) as AsyncIterable<Reservation>, concurrency, async (document) => {
        counts.reservations++
        if (isReserved(document) && !isExpired(document, this.#world.clock.now())) counts.inFlight++
        else {
          const finding = await this.#examineReservation(proxy, document)
          if (finding !== null) await found(finding, { proxy, document })
        }
        looked()
      })
    }
    await eachLimited(this.#world.main.find({}), concurrency, async (document) => {
      counts.documents++
      for (const proxy of this.#world.proxies) {
        for (const spec of proxy.specs) {
          const examined = await this.#examineDocument(proxy, spec, document)
          if (examined !== null)
            await found(examined.finding, examined.holder === null ? null : { proxy, document: examined.holder })
        }
      }
      looked()
    })
    return counts
  }

  async #examineReservation(proxy: Proxy, reservation: Reservation): Promise<Finding | null> {
    const owner = ownerOf(reservation)
    const about = (spec: UniqueSpec): { proxy: string; owner: unknown; field: string; value: unknown } => ({
      proxy: proxy.name,
      owner,
      field: spec.name,
      value: shortValue(heldValues(proxy, reservation, spec)!),
    })
    const specs = heldSpecs(proxy, reservation)
    if (isReserved(reservation)) return { kind: 'expired', ...about(specs[0] ?? proxy.specs[0]!) }
    const main = await readMain(this.#world, owner)
    for (const spec of specs) {
      if (await hasHeldValue(this.#world, proxy, reservation, spec, main)) continue
      // A write that changes the document first sets its reservation to reserved, with another
      // attempt.
      const filter = { ...identityFilter(proxy, reservation), state: reservation.state ?? { $exists: false } }
      const still = (await repeated(this.#world.clock, () => proxy.port.findOne(filter))) as Reservation | null
      if (still !== null && heldValues(proxy, still, spec) !== null) return { kind: 'orphaned', ...about(spec) }
    }
    return null
  }

  async #examineDocument(
    proxy: Proxy,
    spec: UniqueSpec,
    seen: Fields,
  ): Promise<{ finding: Finding; holder: Reservation | null } | null> {
    const owner = seen['_id']
    let document: Fields | null = seen
    let finding: { finding: Finding; holder: Reservation | null } | null = null
    // The document may have changed between the two reads, so check a finding twice.
    for (let look = 1; look <= 2 && document !== null; look++, document = await readMain(this.#world, owner)) {
      finding = null
      let values: unknown[] | null
      try {
        values = reservedValuesOf(spec, document)
      } catch (error) {
        finding = { finding: findingOf(owner, error) ?? rethrown(error), holder: null }
        continue
      }
      if (values === null) return null
      const wanted = values
      const holder = await repeated(this.#world.clock, () => lookup(proxy, spec, wanted))
      const about = { owner, field: spec.name, value: shortValue(values) }
      if (holder === null) finding = { finding: { kind: 'unreserved', ...about }, holder }
      else if (sameValue(ownerOf(holder), owner)) return null
      else if (isReserved(holder) && !isExpired(holder, this.#world.clock.now())) return null
      else {
        const other = ownerOf(holder)
        const both = await hasHeldValue(this.#world, proxy, holder, spec, await readMain(this.#world, other))
        finding = {
          finding: { kind: both ? 'duplicate' : 'disagreement', ...about, holder: other },
          holder: both ? null : holder,
        }
      }
    }
    return document === null ? null : finding
  }

  /**
   * Confirms or releases a reservation according to the main document. One that has not expired is
   * taken over first.
   */
  async #decide(proxy: Proxy, reservation: Reservation): Promise<void> {
    if (isReserved(reservation)) return void (await this.#sweep(proxy, reservation))
    const { clock, newToken, reservationMs } = this.#world
    const mark = { state: 'reserved' as const, attempt: newToken(), expiresAt: new Date(clock.now() + reservationMs) }
    const filter = { ...identityFilter(proxy, reservation), state: reservation.state ?? { $exists: false } }
    const taken = await repeated(clock, () => proxy.port.updateOne(filter, { $set: mark }))
    if (taken > 0) await resolve(this.#world, proxy, { ...reservation, ...mark })
  }

  async #sweep(proxy: Proxy, reservation: Reservation): Promise<'confirmed' | 'released' | null> {
    const outcome = await resolve(this.#world, proxy, reservation)
    if (outcome !== null) {
      const fields = heldSpecs(proxy, reservation).map(({ name }) => name)
      this.#world.tell({ event: 'swept', owner: ownerOf(reservation), fields })
    }
    return outcome
  }
}

/** null: the error is not about the document. */
function findingOf(owner: unknown, error: unknown): Finding | null {
  if (error instanceof DuplicateValueError)
    return { kind: 'duplicate', owner, field: error.field, value: error.value, holder: error.owner }
  if (error instanceof InvalidValueError) return { kind: 'invalid', owner, message: error.message }
  if (error instanceof BusyDocumentError) return { kind: 'invalid', owner, message: error.message }
  return null
}

function rethrown(error: unknown): never {
  throw error
}

const shortValue = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : values)
