import type { Stream } from '../file/application.js'
import type { TransactionCounts } from './transaction-counts.js'

/** A workload whose operations are run, or only counted. */
export interface Load {
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  /** By error code. */
  readonly errors: Readonly<Record<string, number>>
  begin(): void
  /** Sends nothing more. @throws errors of this program */
  end(): void
  /** @throws errors of this program, not of the cluster */
  check(): void
  /** @param name undefined: all loads of the collection */
  setRate(ns: string, name: string | undefined, rate: Stream['rate']): void
  /** null: single operations are not sent. */
  readonly transactions: TransactionCounts | null
  /** null: single operations are not measured. */
  latencies(): { readonly p50: number; readonly p99: number; readonly max: number } | null
}

/** Per second. An oscillating rate is lowest at the start of each period. */
export function rateAt(rate: Stream['rate'], atMs: number): number {
  if (typeof rate === 'number') return rate
  const { low, high, period } = rate
  return low + ((high - low) * (1 - Math.cos((2 * Math.PI * atMs) / period))) / 2
}
