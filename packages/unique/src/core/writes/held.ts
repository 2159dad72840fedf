import { sameReservation, type Proxy, type Reservation } from '../proxy.js'
import type { UniqueSpec } from '../specs/spec.js'

export interface Held {
  readonly proxy: Proxy
  reservation: Reservation
  /**
   * true: certainly created by this attempt. false: it may have existed before, and the main
   * document may have its values.
   */
  readonly created: boolean
  readonly gained: Set<UniqueSpec>
  readonly lost: Set<UniqueSpec>
}

/** The reservations that one attempt has created or taken over. */
export class HeldReservations {
  readonly all: Held[] = []

  get size(): number {
    return this.all.length
  }

  get specs(): UniqueSpec[] {
    return this.all.flatMap(({ gained, lost }) => [...gained, ...lost])
  }

  get gainedFirst(): Held[] {
    return this.all.toSorted((a, b) => b.gained.size - a.gained.size)
  }

  covers(specs: Iterable<UniqueSpec>): boolean {
    return [...specs].every((spec) => this.specs.includes(spec))
  }

  add(proxy: Proxy, reservation: Reservation, created: boolean, gained: readonly UniqueSpec[]): Held {
    let held = this.#find(proxy, reservation)
    if (held === undefined) {
      held = { proxy, reservation, created, gained: new Set(), lost: new Set() }
      this.all.push(held)
    }
    held.reservation = reservation
    for (const spec of gained) held.gained.add(spec)
    return held
  }

  #find(proxy: Proxy, reservation: Reservation): Held | undefined {
    return this.all.find((each) => each.proxy === proxy && sameReservation(proxy, each.reservation, reservation))
  }
}
