/** Positions in the key space of a measured collection. */
import { hashValue, toRawValue } from '@shardlab/bson'
import type { KeyWeight } from '../keys/key-weights.js'

/** As in the shards' `SizedRange`, with its share of the whole. */
export interface Weighted {
  readonly x0: number
  readonly y0: number
  readonly z0: number
  readonly x1: number
  readonly y1: number
  readonly z1: number
  readonly weight: number
}

/** The values of one field of the key. */
export interface FieldWeights {
  readonly weights: readonly KeyWeight[]
  /**
   * Values grow with the documents: the next ones of a key begin where its last ones end, which
   * keeps them one range.
   */
  readonly isGrowing: boolean
}

const none = Number.NEGATIVE_INFINITY
const hashes = { from: -(2 ** 63), to: 2 ** 63 } as const

/** Values of later fields that are listed for one value of the earlier ones. */
const listed = { most: 500, perWeight: 1000 } as const

export class KeySpace {
  readonly #hashed: readonly boolean[]
  readonly #hashes = new Map<number, number>()
  readonly #values = new Map<number, number>()
  readonly #grownFrom: readonly number[]
  /** By the value of the first field: the next value of a growing second one. */
  readonly #grownTo = new Map<number, number>()
  /** By the values of the first two fields. */
  readonly #grownToOfTwo = new Map<number, Map<number, number>>()

  /**
   * @param hashed of each field of the key
   * @param grownFrom of each field: where the next values of growing ones begin
   */
  constructor(hashed: readonly boolean[], grownFrom: readonly number[] = []) {
    this.#hashed = hashed
    this.#grownFrom = grownFrom
  }

  get isHashed(): boolean {
    return this.#hashed[0]!
  }

  get fieldCount(): number {
    return this.#hashed.length
  }

  /** @param fields of the key, in order */
  places(fields: readonly FieldWeights[]): Weighted[] {
    const places: Weighted[] = []
    this.#expand(fields, 0, [none, none, none], 1, places)
    return places.sort((a, b) => a.x0 - b.x0 || a.y0 - b.y0 || a.z0 - b.z0)
  }

  /** Documents have been stored there. */
  noteGrown({ x0, y0, x1, y1, z1 }: Omit<Weighted, 'weight' | 'z0'>): void {
    if (x0 !== x1) return
    if (y0 !== y1) {
      this.#grownTo.set(x0, y1)
      return
    }
    let ofFirst = this.#grownToOfTwo.get(x0)
    if (ofFirst === undefined) this.#grownToOfTwo.set(x0, (ofFirst = new Map()))
    ofFirst.set(y0, z1)
  }

  /** @param at values of the fields before the i-th; used again for other values */
  #expand(fields: readonly FieldWeights[], i: number, at: number[], weight: number, places: Weighted[]): void {
    if (i === fields.length) {
      places.push(placeOf(at, i, none, none, weight))
      return
    }
    const { weights, isGrowing } = fields[i]!
    const isHashed = this.#hashed[i] === true
    const isContinued = isGrowing && i > 0
    const most = Math.max(1, Math.min(listed.most, Math.floor(weight * listed.perWeight)))
    let scattered = 0
    for (const { from, to, weight: share } of i === 0 ? weights : coarse(weights, most)) {
      if (to - from === 1 && !isContinued) {
        at[i] = isHashed ? this.#hashOf(from) : from
        this.#expand(fields, i + 1, at, weight * share, places)
        at[i] = none
      } else if (isHashed) scattered += share
      else {
        const low = isContinued ? Math.min(from, this.#grown(at, i)) : from
        places.push(placeOf(at, i, low, to, weight * share))
      }
    }
    if (scattered > 0) places.push(placeOf(at, i, hashes.from, hashes.to, weight * scattered))
  }

  #grown([x, y]: readonly number[], i: number): number {
    return (i === 1 ? this.#grownTo.get(x!) : this.#grownToOfTwo.get(x!)?.get(y!)) ?? this.#grownFrom[i] ?? 0
  }

  /** undefined: not a value that was placed. */
  valueOf(hash: number): number | undefined {
    return this.#values.get(hash)
  }

  #hashOf(value: number): number {
    let hash = this.#hashes.get(value)
    if (hash === undefined) {
      hash = Number(hashValue(toRawValue(value)))
      this.#hashes.set(value, hash)
      this.#values.set(hash, value)
    }
    return hash
  }
}

/** With these ends in the i-th field, and MinKey in later ones. */
function placeOf([x, y, z]: readonly number[], i: number, low: number, high: number, weight: number): Weighted {
  const [x0, y0, z0] = [i === 0 ? low : x!, i === 1 ? low : y!, i === 2 ? low : z!]
  const [x1, y1, z1] = [i === 0 ? high : x!, i === 1 ? high : y!, i === 2 ? high : z!]
  return { x0, y0, z0, x1, y1, z1, weight }
}

/** Joins rare neighbouring values, so that about `most` parts remain. */
function coarse(weights: readonly KeyWeight[], most: number): readonly KeyWeight[] {
  if (weights.length <= most) return weights
  const joined: KeyWeight[] = []
  let open: KeyWeight | null = null
  for (const each of weights) {
    if (each.weight >= 1 / most) {
      if (open !== null) joined.push(open)
      open = null
      joined.push(each)
      continue
    }
    open = open === null ? each : { from: open.from, to: each.to, weight: open.weight + each.weight }
    if (open.weight < 1 / most) continue
    joined.push(open)
    open = null
  }
  if (open !== null) joined.push(open)
  return joined
}
