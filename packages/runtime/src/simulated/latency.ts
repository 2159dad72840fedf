import type { Address } from '@shardlab/actor'

/** Delays of packets are whole microseconds, drawn evenly from this range. */
export interface LatencyRange {
  readonly minMicros: number
  readonly maxMicros: number
}

/** A function gives each direction of each pair of members its own range. */
export type LatencyOption = LatencyRange | ((from: Address, to: Address) => LatencyRange)

/** Two machines in one data centre. */
export const defaultLatency: LatencyRange = { minMicros: 200, maxMicros: 1000 }

/** @throws RangeError for an invalid range */
export function latencyRange(option: LatencyOption, from: Address, to: Address): LatencyRange {
  const range = typeof option === 'function' ? option(from, to) : option
  const { minMicros, maxMicros } = range
  if (!Number.isInteger(minMicros) || !Number.isInteger(maxMicros) || minMicros < 0 || maxMicros < minMicros) {
    throw new RangeError(
      `invalid latency from ${from} to ${to}: ${minMicros} to ${maxMicros} microseconds. Give two whole numbers, the smaller one first`,
    )
  }
  return range
}
