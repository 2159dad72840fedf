import type { WorkloadSource } from '../file/schema.js'

/** What a workload, of operations or of how many there are, tells while it lasts. */
export interface Load {
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  /** Code of the error to number of operations. */
  readonly errors: Readonly<Record<string, number>>
  begin(): void
  /** Nothing more is sent. @throws what went wrong in this program */
  end(): void
  /** @throws what went wrong in this program, not in the cluster */
  check(): void
  /** Of the loads of a collection, or of the one with this name. */
  setRate(ns: string, name: string | undefined, rate: WorkloadSource['rate']): void
  /** Null where no single operation is known. */
  latencies(): { readonly p50: number; readonly p99: number; readonly max: number } | null
}

/**
 * Operations a second at that time; a rate that swings is lowest at the beginning of each period.
 */
export function rateAt(rate: WorkloadSource['rate'], atMs: number): number {
  if (typeof rate === 'number') return rate
  const { low, high, period } = rate
  return low + ((high - low) * (1 - Math.cos((2 * Math.PI * atMs) / period))) / 2
}
