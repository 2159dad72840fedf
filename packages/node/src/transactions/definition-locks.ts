/**
 * Changes of definitions that wait for transactions, or run. Later statements of transactions wait
 * for them, but not long. Server: lock_manager.cpp, maxTransactionLockRequestTimeoutMillis.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

interface Lock {
  readonly covers: (ns: string) => boolean
  readonly released: Deferred<void>
}

export class DefinitionLocks {
  readonly #locks = new Set<Lock>()
  /** Parameter maxTransactionLockRequestTimeoutMillis. */
  readonly #timeoutMs: () => number

  constructor(timeoutMs: () => number) {
    this.#timeoutMs = timeoutMs
  }

  get isEmpty(): boolean {
    return this.#locks.size === 0
  }

  /** @returns releases the lock */
  acquire(covers: (ns: string) => boolean): () => void {
    const lock: Lock = { covers, released: createDeferred() }
    this.#locks.add(lock)
    return () => {
      this.#locks.delete(lock)
      lock.released.resolve()
    }
  }

  /** Resolves when the namespace is not locked; null: it is free. */
  released(ns: string): Promise<void> | null {
    for (const { covers, released } of this.#locks) if (covers(ns)) return released.promise
    return null
  }

  /** @throws CommandError 24 LockTimeout */
  check(ns: string): void {
    if (this.#locks.size > 0 && this.released(ns) !== null) throw this.timedOut(ns)
  }

  timedOut(ns: string): CommandError {
    return new CommandError(
      'LockTimeout',
      `Unable to acquire IX lock on '{${ns}: Collection, ${ns}}' within ${this.#timeoutMs()}ms.`,
    )
  }
}
