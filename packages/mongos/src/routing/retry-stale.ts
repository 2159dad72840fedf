import type { LimitsHost } from '../host/mongos-host.js'

/** An attempt that must be repeated returns this. */
export const again = Symbol('again')

/**
 * Makes at most `staleAttemptsMax` attempts. Reaching the limit emits a `limit` event. All retries
 * of a router for stale routing or moved documents pass through here, except those of write
 * batches: they run in rounds, limited by `fruitlessRoundsMax`
 * (`writes/batch/batch-write-executor.ts`). Server: kMaxNumStaleVersionRetries.
 *
 * @param exhausted gives the result after the last attempt, or throws
 * @param firstAttempt the number of the first attempt: 2 if one was made before
 */
export async function retryStale<T>(
  host: LimitsHost,
  attempt: () => Promise<T | typeof again>,
  exhausted: () => T,
  firstAttempt = 1,
): Promise<T> {
  for (let attempts = firstAttempt; ; attempts++) {
    const result = await attempt()
    if (result !== again) return result
    if (attempts < host.limits.staleAttemptsMax) continue
    host.limitReached('staleAttemptsMax', attempts)
    return exhausted()
  }
}
