/** Locks on the definitions of collections, held by reshardings. Server: ddl_lock_manager.cpp. */
import { waitForLock, type LockWait } from './lock-wait.js'
import type { BlockedNamespaces } from '../../host/host.js'

interface Holder {
  readonly request: Uint8Array
  readonly done: Promise<void>
}

export class DefinitionLocks {
  readonly #wait: LockWait
  readonly #critical: BlockedNamespaces
  readonly #holders = new Map<string, Holder>()

  constructor(wait: LockWait, critical: BlockedNamespaces) {
    this.#wait = wait
    this.#critical = critical
  }

  /** null: not locked. */
  holder(ns: string): Holder | null {
    return this.#holders.get(ns) ?? null
  }

  /** Runs the work after earlier changes of the definition. The collection must not be locked. */
  async hold(ns: string, request: Uint8Array, work: () => Promise<void>): Promise<void> {
    const run = async () => {
      // Changes of a definition hold the collection's critical section.
      for (let blocking = this.#critical.blocking(ns); blocking !== undefined; blocking = this.#critical.blocking(ns))
        await blocking
      await work()
    }
    const done = run().finally(() => this.#holders.delete(ns))
    // Joiners await the same promise; without joiners only the caller handles its rejection.
    done.catch(() => {})
    this.#holders.set(ns, { request, done })
    await done
  }

  /**
   * Resolves when none of the names is locked; undefined: none is.
   * @param names namespaces and databases
   * @throws CommandError 46 LockBusy, see {@link waitForLock}
   */
  free(names: readonly string[]): Promise<void> | undefined {
    if (this.#holders.size === 0 || this.#first(names) === undefined) return undefined
    return waitForLock(this.#wait, names[0]!, () => {
      const holder = this.#first(names)
      return holder && { operation: 'reshardCollection', mode: 'X', released: holder.done }
    })
  }

  #first(names: readonly string[]): Holder | undefined {
    for (const [ns, holder] of this.#holders)
      if (names.some((name) => ns === name || ns.startsWith(`${name}.`))) return holder
    return undefined
  }
}
