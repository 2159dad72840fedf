/** What the protocol works with, and how it asks again when no answer came. */
import { kindOf, type Clock, type Fields, type ReadablePort } from './port.js'
import type { Proxy } from './proxy.js'
import type { UniqueSpec } from './spec.js'

/** Names of the events, and of the counters. `compensated`: a write failed and its reservations were taken back. `unsettled`: a step after the main write got no answer and is left to a sweep. */
export type UniqueEventName = 'reserved' | 'confirmed' | 'released' | 'compensated' | 'conflict' | 'swept' | 'unsettled'

export interface UniqueEvent {
  readonly event: UniqueEventName
  /** `_id` of the main document. */
  readonly owner: unknown
  /** Names of the specs that it is about. */
  readonly fields: readonly string[]
}

export interface World {
  readonly main: ReadablePort
  readonly proxies: readonly Proxy[]
  readonly specs: readonly UniqueSpec[]
  readonly clock: Clock
  /** A value that no other call ever gives, for the attempts. */
  readonly newToken: () => unknown
  readonly reservationMs: number
  readonly busyMs: number
  readonly tell: (event: UniqueEvent) => void
  readonly transactions: Transactions | null
}

/** What a write inside of a transaction works with. */
export interface TransactionScope {
  readonly main: ReadablePort
  readonly proxies: readonly Proxy[]
  /** What the main collection's write has to be given. */
  readonly session: unknown
}

export interface Transactions {
  /**
   * Runs `body` in one transaction, again when the server asks for that, and commits.
   * @returns `refused` when the deployment has no transactions; then nothing was done
   */
  run<T>(
    body: (scope: TransactionScope) => Promise<T>,
  ): Promise<{ readonly refused: false; readonly result: T } | { readonly refused: true }>
}

const repetitions = 4

/** Does a step, again while its outcome is unknown. The step must be one that may be repeated. @throws the last error */
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

/** The latest state of a main document. */
export function readMain({ main, clock }: Pick<World, 'main' | 'clock'>, owner: unknown): Promise<Fields | null> {
  return repeated(clock, () => main.findOne({ _id: { $eq: owner } }))
}
