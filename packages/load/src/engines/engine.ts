/** How operations reach the server. */
import type { Plan } from '../workload/schedule.js'
import type { EngineName } from '../types.js'

export interface OperationResult {
  /** `HostUnreachable 6`, `MongoNetworkError`; null: no error. */
  readonly error: string | null
  /** False if the outcome is unknown, or known to be a failure. */
  readonly acknowledged: boolean
  /** Documents that a read returned or an update matched; -1: neither. */
  readonly found: number
  /** Of a bulk insert that failed in part: the positions of the inserted documents. */
  readonly written: readonly number[] | null
  /** The connection failed: pause before the next operation. */
  readonly isNetworkError: boolean
}

export interface Engine {
  /** Does all work that is possible before the clock starts. */
  prepare(plan: Plan): unknown
  /**
   * Sends a prepared operation; never rejects.
   * @param slot the number of the caller, below the engine's concurrency
   */
  send(prepared: unknown, slot: number): Promise<OperationResult>
  /** Attempts that were retried automatically. */
  readonly retries: number
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
