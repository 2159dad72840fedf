import type { WorkloadSource } from '../file/schema.js'

/** A running workload, whether its operations are run or only counted. */
export interface Load {
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  /** Number of operations by error code. */
  readonly errors: Readonly<Record<string, number>>
  begin(): void
  /** Sends nothing more. @throws errors of this program */
  end(): void
  /** @throws errors of this program, not of the cluster */
  check(): void
  /** Sets the rate of a collection's loads: all, or the one with this name. */
  setRate(ns: string, name: string | undefined, rate: WorkloadSource['rate']): void
  /** Null: single operations are not measured. */
  latencies(): { readonly p50: number; readonly p99: number; readonly max: number } | null
}

/** Operations per second at a time. An oscillating rate is lowest at the start of each period. */
export function rateAt(rate: WorkloadSource['rate'], atMs: number): number {
  if (typeof rate === 'number') return rate
  const { low, high, period } = rate
  return low + ((high - low) * (1 - Math.cos((2 * Math.PI * atMs) / period))) / 2
}
