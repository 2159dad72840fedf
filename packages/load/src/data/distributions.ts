/**
 * YCSB's generators (`site.ycsb.generator`) as pure functions of a number in [0, 1), so that each
 * choice can be repeated.
 */
import { mix32 } from './hash.js'

export const distributionNames = ['uniform', 'zipfian', 'latest', 'hotspot', 'exponential', 'sequential'] as const
export type DistributionName = (typeof distributionNames)[number]

/**
 * @param u in [0, 1)
 * @param cycle number of the operation
 * @param newest number of the newest record that surely exists, at least `records - 1`
 * @returns a record's number
 */
export type Distribution = (u: number, cycle: number, newest: number) => number

const zipfianConstant = 0.99
/**
 * `ScrambledZipfianGenerator`: the number of ranked items, and the sum of their weights at 0.99.
 */
const scrambledItems = 10_000_000_000
const scrambledZeta = 26.46902820178302
/** `HotspotIntegerGenerator`: this share of operations goes to that share of records. */
const hotOperations = 0.8
const hotRecords = 0.2
/** `ExponentialGenerator`: this share of operations goes to that newest share of records. */
const exponentialPercentile = 0.95
const exponentialRecords = 0.8571428571

export function distributionOf(name: DistributionName, records: number): Distribution {
  switch (name) {
    case 'uniform':
      return (u) => Math.floor(u * records)
    case 'zipfian': {
      const rank = zipfian(scrambledItems, scrambledZeta)
      return (u) => scatter(rank(u)) % records
    }
    case 'latest': {
      const rank = zipfian(records, zetaOf(records))
      return (u, _cycle, newest) => newest - rank(u)
    }
    case 'hotspot': {
      const hot = Math.max(1, Math.floor(records * hotRecords))
      return (u) =>
        u < hotOperations || hot === records
          ? Math.floor((u / hotOperations) * hot) % hot
          : hot + Math.floor(((u - hotOperations) / (1 - hotOperations)) * (records - hot))
    }
    case 'exponential': {
      const gamma = -Math.log(1 - exponentialPercentile) / (records * exponentialRecords)
      // YCSB draws again beyond the oldest record; here u is scaled to the range instead.
      const inside = 1 - Math.exp(-gamma * records)
      return (u, _cycle, newest) => newest - Math.min(records - 1, Math.floor(-Math.log(1 - u * inside) / gamma))
    }
    case 'sequential':
      return (_u, cycle) => cycle % records
  }
}

/**
 * Gray et al., Quickly generating billion-record synthetic databases. @returns ranks; 0 is the most
 * frequent
 */
export function zipfian(items: number, zeta: number, theta = zipfianConstant): (u: number) => number {
  const alpha = 1 / (1 - theta)
  const second = 1 + 0.5 ** theta
  const eta = (1 - (2 / items) ** (1 - theta)) / (1 - second / zeta)
  return (u) => {
    const weight = u * zeta
    if (weight < 1) return 0
    if (weight < second) return Math.min(1, items - 1)
    return Math.min(items - 1, Math.floor(items * (eta * u - eta + 1) ** alpha))
  }
}

export function zetaOf(items: number, theta = zipfianConstant): number {
  let sum = 0
  for (let i = 1; i <= items; i++) sum += 1 / i ** theta
  return sum
}

/** Spreads neighbouring ranks over all records; ranks go beyond 32 bits. */
function scatter(rank: number): number {
  return mix32(mix32(rank) ^ Math.imul(Math.floor(rank / 4294967296) + 1, 0x9e3779b1))
}
