import { kindOf, type Clock, type Fields, type ReadablePort } from './port.js'
import type { Proxy } from './proxy.js'
import type { UniqueSpec } from './specs/spec.js'

/**
 * `compensated`: a write failed and its reservations were undone. `unsettled`: a step after the
 * main write got no answer; a sweep will do it.
 */
export type UniqueEventName = 'reserved' | 'confirmed' | 'released' | 'compensated' | 'conflict' | 'swept' | 'unsettled'

export interface UniqueEvent {
  readonly event: UniqueEventName
  readonly owner: unknown
  /** Names of the specs. */
  readonly fields: readonly string[]
}

export interface World {
  readonly main: ReadablePort
  readonly proxies: readonly Proxy[]
  readonly specs: readonly UniqueSpec[]
  readonly clock: Clock
  /** Unique for each attempt. */
  readonly newToken: () => unknown
  readonly reservationMs: number
  readonly busyMs: number
  /**
   * Whether the proxies have markers (enforcement.ts). False: the caller guarantees that existing
   * documents have their reservations.
   */
  readonly markers: boolean
  /** Documents that backfill, verify, repair and sweep handle at once; default 16. */
  readonly concurrency?: number
  readonly tell: (event: UniqueEvent) => void
  /** null: every write makes reservations and confirms them. */
  readonly transactions: Transactions | null
}

export interface TransactionScope {
  readonly main: ReadablePort
  readonly proxies: readonly Proxy[]
  /** The session for the write of the main collection. */
  readonly session: unknown
}

export interface Transactions {
  /**
   * Repeats `body` if the server asks for that, and commits.
   * @returns `refused`: why the deployment has no transactions, and nothing was done; else null
   * @throws PortError of the kind `unknown` if the commit got no answer
   */
  run<T>(
    body: (scope: TransactionScope) => Promise<T>,
  ): Promise<{ readonly refused: null; readonly result: T } | { readonly refused: string }>
  /**
   * Runs `body` once, in the transaction of the caller's session; the caller commits. An error of
   * `body` ends the transaction.
   */
  within<T>(session: unknown, body: (scope: TransactionScope) => Promise<T>): Promise<T>
}

const repetitions = 4

/**
 * Repeats a step while its outcome is unknown; the step must be repeatable. @throws the last error
 */
export async function repeated<T>(clock: Clock, step: () => Promise<T>): Promise<T> {
  for (let i = 1; ; i++) {
    try {
      return await step()
    } catch (error) {
      if (kindOf(error) !== 'unknown' || i === repetitions) throw error
      await clock.sleep(25 * 2 ** i)
    }
  }
}

export function readMain({ main, clock }: Pick<World, 'main' | 'clock'>, owner: unknown): Promise<Fields | null> {
  return repeated(clock, () => main.findOne({ _id: { $eq: owner } }))
}
