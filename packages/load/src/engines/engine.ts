/** How operations reach the server. */
import type { Plan } from '../workload/schedule.js'
import type { EngineName } from '../types.js'

export interface OperationResult {
  /** `HostUnreachable 6`, `MongoNetworkError`; null: no error. */
  readonly error: string | null
  /** Nobody knows whether it has been carried out, or it is known that it has not: in either case it does not count as acknowledged. */
  readonly acknowledged: boolean
  /** Documents that a read returned, or an update found; -1: neither. */
  readonly found: number
  /** Of a bulk insert that failed in part: the documents that are in, by their place. */
  readonly written: readonly number[] | null
  /** The connection is the trouble: wait a moment before the next one. */
  readonly isNetworkError: boolean
}

export interface Engine {
  /** Everything that can be done before the clock starts. */
  prepare(plan: Plan): unknown
  /**
   * Sends a prepared operation; never rejects.
   * @param slot the number of the caller, below the engine's concurrency
   */
  send(prepared: unknown, slot: number): Promise<OperationResult>
  /** Attempts that were repeated without anybody asking. */
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
