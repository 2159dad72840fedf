import type { Plan } from '../workload/schedule.js'
import type { EngineName } from '../types.js'
import type { TransactionStatistics } from './transaction-statistics.js'

export interface OperationResult {
  /** `HostUnreachable 6`, `MongoNetworkError`; null: no error. */
  readonly error: string | null
  /** false: the outcome is unknown, or known to be a failure. */
  readonly acknowledged: boolean
  /** Documents that a read returned or an update matched; -1: neither. */
  readonly found: number
  /** Positions of the inserted documents, for a bulk insert that failed in part. */
  readonly written: readonly number[] | null
  /** The connection failed: pause before the next operation. */
  readonly isNetworkError: boolean
}

export interface Engine {
  /** Does all work that is possible before the clock starts. */
  prepare(plan: Plan): unknown
  /**
   * Never rejects.
   * @param slot the number of the caller, below the engine's concurrency
   */
  send(prepared: unknown, slot: number): Promise<OperationResult>
  /** Attempts that the engine itself retried. */
  readonly retries: number
  /** null: the engine runs none. */
  readonly transactions: TransactionStatistics | null
  close(): Promise<void>
}

export interface EngineOptions {
  readonly name: EngineName
  readonly uri: string
  readonly concurrency: number
  readonly pipeline: number
}

export const succeeded = (found: number): OperationResult => ({
  error: null,
  acknowledged: true,
  found,
  written: null,
  isNetworkError: false,
})

export const failedWith = (
  error: string,
  isNetworkError: boolean,
  written: readonly number[] | null = null,
): OperationResult => ({
  ...{ error, acknowledged: false, found: -1, written, isNetworkError },
})
