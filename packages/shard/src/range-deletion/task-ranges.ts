/** Range deletions in key order, so that lookups are not linear in their number. */
import { sameBytes } from '@shardlab/bson'

/** Bounds are KeyStrings; `high` is exclusive. */
export interface TaskRange {
  readonly collectionUuid: Uint8Array
  readonly low: string
  readonly high: string
}

interface Place {
  readonly low: string
  readonly high: string
  /** The highest end of this range and all before it: ranges written by clients may overlap. */
  reach: string
}

/** Sorted by lower bound. */
interface Places {
  readonly collectionUuid: Uint8Array
  readonly places: Place[]
}

export class TaskRanges {
  /** There are few: a linear search costs less than string keys of the UUIDs. */
  readonly #collections: Places[] = []

  add({ collectionUuid, low, high }: TaskRange): void {
    const added: Place = { low, high, reach: high }
    const places = this.#of(collectionUuid)
    if (places === undefined) {
      // Copied: a view would keep the memory of the whole document.
      this.#collections.push({ collectionUuid: new Uint8Array(collectionUuid), places: [added] })
      return
    }
    const i = placesBelow(places, low)
    places.splice(i, 0, added)
    updateReach(places, i)
  }

  /** Removes one equal range, if there is one. */
  remove({ collectionUuid, low, high }: TaskRange): void {
    const places = this.#of(collectionUuid) ?? []
    for (let i = placesBelow(places, low); places[i]?.low === low; i++) {
      if (places[i]!.high !== high) continue
      places.splice(i, 1)
      updateReach(places, i)
      if (places.length > 0) return
      this.#collections.splice(
        this.#collections.findIndex((each) => each.places === places),
        1,
      )
      return
    }
  }

  anyBetween(collectionUuid: Uint8Array, low: string, high: string): boolean {
    const places = this.#of(collectionUuid)
    if (places === undefined) return false
    const last = places[placesBelow(places, high) - 1]
    return last !== undefined && last.reach > low
  }

  anyOf(collectionUuid: Uint8Array): boolean {
    return this.#of(collectionUuid) !== undefined
  }

  #of(collectionUuid: Uint8Array): Place[] | undefined {
    for (const each of this.#collections) if (sameBytes(each.collectionUuid, collectionUuid)) return each.places
    return undefined
  }
}

function placesBelow(places: readonly Place[], key: string): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (places[middle]!.low < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Call after an insertion or removal at the i-th range. */
function updateReach(places: readonly Place[], i: number): void {
  let before = i === 0 ? '' : places[i - 1]!.reach
  for (let n = i; n < places.length; n++) {
    const place = places[n]!
    const reach = place.high > before ? place.high : before
    // Later ends are unchanged, too; a new range has no valid end yet.
    if (n > i && place.reach === reach) return
    place.reach = reach
    before = reach
  }
}
