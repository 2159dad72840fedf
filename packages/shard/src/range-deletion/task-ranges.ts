/** Where the ranges of range deletions lie, in key order, so that nothing is linear in those that wait for their time. */
import { sameBytes } from '@shardlab/bson'

/** From `low` on and below `high`, both KeyStrings, of one collection. */
export interface TaskRange {
  readonly collectionUuid: Uint8Array
  readonly low: string
  readonly high: string
}

interface Place {
  readonly low: string
  readonly high: string
  /** The highest end of this range and of all before it: ranges may overlap when clients have written them. */
  reach: string
}

/** The ranges of one collection, in the order of their lower ends. */
interface Places {
  readonly collectionUuid: Uint8Array
  readonly places: Place[]
}

export class TaskRanges {
  /** Those that have ranges: a handful, so that looking through them is less than making keys of their UUIDs. */
  readonly #collections: Places[] = []

  add({ collectionUuid, low, high }: TaskRange): void {
    const added: Place = { low, high, reach: high }
    const places = this.#of(collectionUuid)
    if (places === undefined) {
      // A view would keep the memory around it.
      this.#collections.push({ collectionUuid: new Uint8Array(collectionUuid), places: [added] })
      return
    }
    const i = placesBelow(places, low)
    places.splice(i, 0, added)
    updateReach(places, i)
  }

  /** One range that is equal to this one; no error when there is none. */
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

  /** Has a range of the collection keys from `low` on and below `high`? */
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

/** How many begin below the key. */
function placesBelow(places: readonly Place[], key: string): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (places[middle]!.low < key) low = middle + 1
    else high = middle
  }
  return low
}

/** From the i-th place on, where one was put in or taken out. */
function updateReach(places: readonly Place[], i: number): void {
  let before = i === 0 ? '' : places[i - 1]!.reach
  for (let n = i; n < places.length; n++) {
    const place = places[n]!
    const reach = place.high > before ? place.high : before
    // The one that was put in has not been compared yet; behind it nothing changes from where nothing has.
    if (n > i && place.reach === reach) return
    place.reach = reach
    before = reach
  }
}
