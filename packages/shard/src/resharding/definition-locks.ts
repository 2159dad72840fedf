/** While a collection is resharded nobody else changes its definition. Server: ddl_lock_manager.cpp. */
import type { ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { CriticalSections } from '../metadata/critical-sections.js'
import { within } from '../migration/waiting.js'

/** Longest wait for a resharding. Server: DDLLockManager::kDefaultLockTimeout. */
const lockTimeoutMs = 5 * 60_000

interface Holder {
  readonly request: Uint8Array
  readonly done: Promise<void>
}

export class DefinitionLocks {
  readonly #context: ActorContext
  readonly #critical: CriticalSections
  readonly #holders = new Map<string, Holder>()

  constructor(context: ActorContext, critical: CriticalSections) {
    this.#context = context
    this.#critical = critical
  }

  /** Who has the collection; null: nobody. */
  holder(ns: string): Holder | null {
    return this.#holders.get(ns) ?? null
  }

  /** Runs the work when those who have come before are done, while others wait. Nobody may hold the collection. */
  async hold(ns: string, request: Uint8Array, work: () => Promise<void>): Promise<void> {
    const run = async () => {
      // Who changes a definition is in the collection's critical section.
      for (let blocking = this.#critical.blocking(ns); blocking !== undefined; blocking = this.#critical.blocking(ns)) await blocking
      await work()
    }
    const done = run().finally(() => this.#holders.delete(ns))
    // Those who join wait for the same promise; without any of them its rejection is the caller's alone.
    done.catch(() => {})
    this.#holders.set(ns, { request, done })
    await done
  }

  /**
   * Resolves when nobody holds these collections, or collections of these databases; undefined: nobody does.
   * @param names namespaces and databases
   * @throws CommandError 46 LockBusy after five minutes
   */
  free(names: readonly string[]): Promise<void> | undefined {
    if (this.#holders.size === 0 || this.#first(names) === undefined) return undefined
    return this.#wait(names)
  }

  async #wait(names: readonly string[]): Promise<void> {
    const untilMs = this.#context.now() + lockTimeoutMs
    for (let holder = this.#first(names); holder !== undefined; holder = this.#first(names)) {
      const ended = holder.done.then(
        () => true,
        () => true,
      )
      if ((await within(this.#context, ended, Math.max(0, untilMs - this.#context.now()))) === undefined)
        throw new CommandError(
          'LockBusy',
          `Failed to acquire DDL lock for namespace '${names[0]}' after ${lockTimeoutMs}ms that is currently locked with reason 'reshardCollection'`,
        )
    }
  }

  #first(names: readonly string[]): Holder | undefined {
    for (const [ns, holder] of this.#holders) if (names.some((name) => ns === name || ns.startsWith(`${name}.`))) return holder
    return undefined
  }
}
