/** Compares documents and reservations; changes nothing. */
import { isMarker } from './enforcement.js'
import { findingOf, rethrown, shortValue, type Finding } from './findings.js'
import { eachLimited } from './limited.js'
import type { Fields } from './port.js'
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
import { WaitingCount, type OnProgress, type Waiting } from './reports.js'
import { hasHeldValue } from './writes/resolve.js'
import { reservedValuesOf } from './specs/spec-values.js'
import type { UniqueSpec } from './specs/spec.js'
import { sameValue } from './values.js'
import { readMain, repeated, type World } from './world.js'

/** Documents that a maintenance run handles at once, if the world does not say otherwise. */
export const defaultConcurrency = 16

export interface Examined extends Waiting {
  readonly documents: number
  readonly reservations: number
}

export class Examiner {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  async examine(
    found: (finding: Finding, reservation: { proxy: Proxy; document: Reservation } | null) => Promise<void>,
    onProgress: OnProgress,
  ): Promise<Examined> {
    const counts = { documents: 0, reservations: 0 }
    const waiting = new WaitingCount()
    const { concurrency = defaultConcurrency } = this.#world
    const looked = (): void => onProgress({ looked: counts.documents + counts.reservations })
    for (const proxy of this.#world.proxies) {
      await eachLimited(proxy.port.find({}) as AsyncIterable<Reservation>, concurrency, async (document) => {
        if (isMarker(document)) return
        counts.reservations++
        if (isReserved(document) && !isExpired(document, this.#world.clock.now())) waiting.add(document.expiresAt!)
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
          const examined = await this.examineDocument(proxy, spec, document)
          if (examined !== null)
            await found(examined.finding, examined.holder === null ? null : { proxy, document: examined.holder })
        }
      }
      looked()
    })
    return { ...counts, ...waiting.report }
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

  async examineDocument(
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
}
