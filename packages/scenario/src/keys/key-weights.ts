/**
 * The distributions of `keys.ts` as weights instead of draws: shares of documents, or operations,
 * per value.
 */
import { OptionError } from '@shardlab/cluster'
import { zetaOf } from '@shardlab/load/basics'
import type { FieldSource } from '../file/application.js'
import { hotCount } from '../file/application-rules.js'
import { fileValues, latestRanked, type Progress } from './keys.js'
import { scatterBelow } from './scatter.js'

/** The integers from `from` to below `to` share the weight equally. */
export interface KeyWeight {
  readonly from: number
  readonly to: number
  /** All weights sum to 1. */
  readonly weight: number
}

export interface KeyWeights {
  ofDocuments(progress: Progress, count: number): readonly KeyWeight[]
  ofOperations(progress: Progress): readonly KeyWeight[]
  /** All keys but monotonic ones are below it. */
  readonly below: number
  readonly isMonotonic: boolean
}

/** If there are more values, so many of the most frequent are listed one by one. */
const frequentMax = 1000

/**
 * @param tellsApart most values that are listed one by one
 * @throws OptionError if a file of values cannot be read, is empty, or has values that are not
 * integers
 */
export function keyWeightsOf(source: FieldSource, tellsApart: number): KeyWeights {
  const same = (from: number, to: number): KeyWeight[] =>
    to - from <= tellsApart ? singles(from, to) : [{ from, to, weight: 1 }]
  switch (source.distribution) {
    case 'monotonic':
      return monotonic(({ nextKey }) => [{ from: 0, to: Math.max(1, nextKey), weight: 1 }])
    case 'latest':
      return monotonic(latestWeights(source.theta))
    case 'uniform': {
      const below = source.cardinality ?? 2 ** 32
      return fixed(same(0, below), below)
    }
    case 'zipfian':
      return fixed(zipfianWeights(source.cardinality, source.theta, tellsApart), source.cardinality)
    case 'hotspot': {
      const { cardinality, shareOfOperations, shareOfDocuments = shareOfOperations } = source
      const hot = hotCount(source)
      if (hot === cardinality) return fixed(same(0, cardinality), cardinality)
      const of = (shareOfHot: number): KeyWeight[] => [
        ...scaled(same(0, hot), shareOfHot),
        ...scaled(same(hot, cardinality), 1 - shareOfHot),
      ]
      const [ofDocuments, ofOperations] = [of(shareOfDocuments), of(shareOfOperations)]
      return { ...fixed(ofDocuments, cardinality), ofOperations: () => ofOperations }
    }
    case 'file':
      return fixed(fileWeights(source.path), 0)
    case 'other':
      return fixed(same(0, 997), 997)
    case 'number':
      return {
        ofDocuments: ({ documents }, count) => [{ from: documents, to: documents + count, weight: 1 }],
        ofOperations: ({ documents }) => [{ from: 0, to: Math.max(1, documents), weight: 1 }],
        below: 0,
        isMonotonic: false,
      }
  }
}

function fixed(weights: readonly KeyWeight[], below: number): KeyWeights {
  return { ofDocuments: () => weights, ofOperations: () => weights, below, isMonotonic: false }
}

function monotonic(ofOperations: KeyWeights['ofOperations']): KeyWeights {
  return {
    ofDocuments: ({ nextKey }, count) => [{ from: nextKey, to: nextKey + count, weight: 1 }],
    ofOperations,
    below: 0,
    isMonotonic: true,
  }
}

function singles(from: number, to: number): KeyWeight[] {
  const weight = 1 / (to - from)
  return Array.from({ length: to - from }, (_, i) => ({ from: from + i, to: from + i + 1, weight }))
}

function scaled(weights: readonly KeyWeight[], by: number): KeyWeight[] {
  return weights.map((each) => ({ ...each, weight: each.weight * by }))
}

/** Share of draws with a lower rank in the load generator's `zipfian`. */
function zipfianBelow(items: number, theta: number): (rank: number) => number {
  const zeta = zetaOf(items, theta)
  const second = 1 + 0.5 ** theta
  const eta = (1 - (2 / items) ** (1 - theta)) / (1 - second / zeta)
  return (rank) => {
    if (rank >= items) return 1
    if (rank <= 2) return [0, 1 / zeta, second / zeta][rank]!
    return Math.max(second / zeta, ((rank / items) ** (1 - theta) - 1 + eta) / eta)
  }
}

function zipfianWeights(items: number, theta: number, tellsApart: number): KeyWeight[] {
  const below = zipfianBelow(items, theta)
  const place = scatterBelow(items)
  const frequent = items <= tellsApart ? items : Math.min(items, frequentMax)
  const weights: KeyWeight[] = []
  for (let rank = 0; rank < frequent; rank++) {
    const from = place(rank)
    weights.push({ from, to: from + 1, weight: below(rank + 1) - below(rank) })
  }
  weights.sort((a, b) => a.from - b.from)
  if (frequent === items) return weights
  const each = (1 - below(frequent)) / (items - frequent)
  const rest: KeyWeight[] = []
  let from = 0
  for (const to of [...weights.map((single) => single.from), items]) {
    if (to > from) rest.push({ from, to, weight: (to - from) * each })
    from = to + 1
  }
  return [...weights, ...rest].sort((a, b) => a.from - b.from)
}

/** Ranks of the newest documents, in steps that double. */
function latestWeights(theta: number): KeyWeights['ofOperations'] {
  const below = zipfianBelow(latestRanked, theta)
  return ({ nextKey }) => {
    const weights: KeyWeight[] = []
    for (let low = 0; low < Math.min(latestRanked, nextKey);) {
      const high = Math.min(latestRanked, nextKey, Math.max(low + 1, low * 2))
      weights.push({ from: nextKey - high, to: nextKey - low, weight: below(high) - below(low) })
      low = high
    }
    // Ranks beyond the first key fall on it.
    if (nextKey < latestRanked) weights.push({ from: 0, to: 1, weight: 1 - below(nextKey) })
    return weights.reverse()
  }
}

function fileWeights(path: string): KeyWeight[] {
  const values = fileValues(path)
  const counts = new Map<number, number>()
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isInteger(value))
      throw new OptionError(
        `the key file ${path} contains ${JSON.stringify(value)}; in mode metadata all values must be whole numbers.`,
      )
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([from, count]) => ({ from, to: from + 1, weight: count / values.length }))
}
