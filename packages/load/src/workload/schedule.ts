/**
 * Maps a cycle to its operation, and a record to the cycle that created it. Cycles come in blocks
 * of 1,000. Each block holds the operations in proportion to their weights, shuffled by a hash, so
 * an insert's rank among all inserts, which is its record's number, follows from its position. A
 * segment is a range of cycles with one mix of weights and starts with a block.
 */
import { distributionOf, type Distribution } from '../data/distributions.js'
import { hash32, purposes, unit } from '../data/hash.js'
import type { Operation, TransactionShape, Workload } from './workload.js'

export const blockCycles = 1000
const shuffles = 64

export interface Plan {
  readonly cycle: number
  readonly operation: Operation
  /** The record, or the first of those that the operation creates. */
  readonly key: number
  /** The first text field to write. */
  readonly field: number
  /** 0: none. */
  readonly limit: number
  /** Of a transaction: the records that it reads, then those that it updates. */
  readonly keys: readonly number[]
}

const noKeys: readonly number[] = []

/** The records that an update or a transaction changes. */
export const updatedKeys = ({ operation: { transaction }, key, keys }: Plan): readonly number[] =>
  transaction === null ? [key] : keys.slice(transaction.reads)

/** The version that a cycle's write puts into texts. */
export const versionOf = (cycle: number): number => cycle + 1

interface Segment {
  readonly first: number
  /** One past the last cycle; infinite while the segment runs. */
  end: number
  readonly mix: Mix
  readonly firstKey: number
}

/** Weights as 1,000 positions. */
class Mix {
  /** Operation by position. */
  readonly operations: Uint8Array
  /** By position: rank of the first record among those created in a block. */
  readonly ranks: Uint32Array
  readonly newRecords: number

  constructor(workload: Workload, weights: Readonly<Record<string, number>> | null) {
    const weightOf = ({ name, weight }: Operation): number => (weights === null ? weight : (weights[name] ?? 0))
    const total = workload.operations.reduce((sum, operation) => sum + weightOf(operation), 0)
    const exact = workload.operations.map((operation) => (weightOf(operation) / total) * blockCycles)
    const places = exact.map(Math.floor)
    // The largest remainders get the positions left by rounding down.
    const byRemainder = exact.map((share, i) => [share - places[i]!, i] as const).sort(([a], [b]) => b - a)
    const left = blockCycles - places.reduce((sum, count) => sum + count, 0)
    for (const [, i] of byRemainder.slice(0, left)) places[i]!++
    this.operations = new Uint8Array(blockCycles)
    this.ranks = new Uint32Array(blockCycles)
    let place = 0
    let rank = 0
    places.forEach((count, index) => {
      for (let n = 0; n < count; n++, place++) {
        this.operations[place] = index
        this.ranks[place] = rank
        rank += workload.operations[index]!.newRecords
      }
    })
    this.newRecords = rank
  }
}

export class Schedule {
  readonly workload: Workload
  readonly #segments: Segment[] = []
  readonly #permutations: readonly Uint16Array[]
  readonly #inverses: readonly Uint16Array[]
  readonly #distributions = new Map<string, Distribution>()

  constructor(workload: Workload) {
    this.workload = workload
    this.#permutations = Array.from({ length: shuffles }, (_, i) => shuffled(workload.seed, i))
    this.#inverses = this.#permutations.map((permutation) => {
      const inverse = new Uint16Array(blockCycles)
      permutation.forEach((place, position) => (inverse[place] = position))
      return inverse
    })
    for (const { distribution } of workload.operations) {
      if (!this.#distributions.has(distribution))
        this.#distributions.set(distribution, distributionOf(distribution, workload.records))
    }
  }

  /**
   * @param cyclesSoFar one past the highest cycle that may have run
   * @param weights operation to weight; null: the workload's
   * @returns the segment's first cycle
   */
  begin(cyclesSoFar: number, weights: Readonly<Record<string, number>> | null): number {
    const first = Math.ceil(cyclesSoFar / blockCycles) * blockCycles
    const last = this.#segments.at(-1)
    if (last !== undefined) last.end = first
    const firstKey =
      last === undefined
        ? this.workload.records
        : last.firstKey + ((first - last.first) / blockCycles) * last.mix.newRecords
    this.#segments.push({ first, end: Number.POSITIVE_INFINITY, mix: new Mix(this.workload, weights), firstKey })
    return first
  }

  plan(cycle: number): Plan {
    const { seed, operations, template } = this.workload
    const segment = this.#segmentOf(cycle)
    const block = Math.floor((cycle - segment.first) / blockCycles)
    const place = this.#permutations[this.#shuffleOf(segment, block)]![(cycle - segment.first) % blockCycles]!
    const operation = operations[segment.mix.operations[place]!]!
    if (operation.newRecords > 0) {
      const key = segment.firstKey + block * segment.mix.newRecords + segment.mix.ranks[place]!
      return { cycle, operation, key, field: 0, limit: 0, keys: noKeys }
    }
    // The block before this one has run, or nearly, so its records can be read.
    const newest = segment.firstKey + Math.max(0, block - 1) * segment.mix.newRecords - 1
    const key = this.#distributions.get(operation.distribution)!(unit(seed, cycle, purposes.key), cycle, newest)
    const field = operation.fields === 0 ? 0 : hash32(seed, cycle, purposes.field) % template.texts.length
    const limit =
      operation.limit === null
        ? 0
        : operation.limit[0] +
          Math.floor(unit(seed, cycle, purposes.limit) * (operation.limit[1] - operation.limit[0] + 1))
    const keys =
      operation.transaction === null ? noKeys : this.#keysOf(operation.transaction, operation, cycle, key, newest)
    return { cycle, operation, key, field, limit, keys }
  }

  /** Different ones. */
  #keysOf(
    { reads, writes, within }: TransactionShape,
    { distribution }: Operation,
    cycle: number,
    first: number,
    newest: number,
  ): number[] {
    const count = reads + writes
    if (within !== null) {
      // The last block may have too few records.
      const blocks = Math.floor((newest + 1) / within)
      const start = (Math.floor(first / within) % blocks) * within
      return Array.from({ length: count }, (_, i) => start + ((first + i) % within))
    }
    const keys = [first]
    const draw = this.#distributions.get(distribution)!
    for (let i = 1; i < count; i++) {
      let key = draw(unit(this.workload.seed, cycle, purposes.transaction + i), cycle, newest)
      while (keys.includes(key)) key = (key + 1) % (newest + 1)
      keys.push(key)
    }
    return keys
  }

  /** `index`: the record's in the cycle. null: loaded, or not created by any segment. */
  makerOf(key: number): { readonly cycle: number; readonly index: number } | null {
    if (key < this.workload.records) return null
    const segment = this.#segments.findLast(({ firstKey, mix }) => firstKey <= key && mix.newRecords > 0)
    if (segment === undefined) return null
    const { mix } = segment
    const block = Math.floor((key - segment.firstKey) / mix.newRecords)
    const rank = (key - segment.firstKey) % mix.newRecords
    if (segment.first + (block + 1) * blockCycles > segment.end) return null
    // Binary search for the last creating position whose first rank is at or below the rank.
    let low = 0
    let high = blockCycles
    while (low < high) {
      const middle = (low + high) >>> 1
      if (mix.ranks[middle]! <= rank) low = middle + 1
      else high = middle
    }
    let place = low - 1
    while (this.workload.operations[mix.operations[place]!]!.newRecords === 0) place--
    const position = this.#inverses[this.#shuffleOf(segment, block)]![place]!
    return { cycle: segment.first + block * blockCycles + position, index: rank - mix.ranks[place]! }
  }

  #segmentOf(cycle: number): Segment {
    const last = this.#segments.at(-1)
    if (last !== undefined && cycle >= last.first) return last
    const segment = this.#segments.find(({ first, end }) => cycle >= first && cycle < end)
    if (segment === undefined) throw new Error(`no segment holds cycle ${cycle}`)
    return segment
  }

  #shuffleOf({ first }: Segment, block: number): number {
    return hash32(this.workload.seed, first / blockCycles + block, purposes.shuffle) % shuffles
  }
}

function shuffled(seed: number, n: number): Uint16Array {
  const places = Uint16Array.from({ length: blockCycles }, (_, i) => i)
  for (let i = blockCycles - 1; i > 0; i--) {
    const j = hash32(seed ^ 0x2545f491, n * blockCycles + i, purposes.shuffle) % (i + 1)
    const kept = places[i]!
    places[i] = places[j]!
    places[j] = kept
  }
  return places
}
