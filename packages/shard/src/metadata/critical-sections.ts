import { createDeferred, type Deferred } from '@shardlab/actor'

/**
 * Namespaces on which commands of routers wait: while their placement changes. A section on a database name covers its
 * collections. Server: ShardingRecoveryService critical sections.
 */
export class CriticalSections {
  readonly #sections = new Map<string, Deferred<void>>()

  /** What to wait for before the namespace may be touched; undefined when it is free. */
  blocking(ns: string): Promise<void> | undefined {
    if (this.#sections.size === 0) return undefined
    const own = this.#sections.get(ns)
    if (own !== undefined) return own.promise
    const dot = ns.indexOf('.')
    return dot < 0 ? undefined : this.#sections.get(ns.slice(0, dot))?.promise
  }

  /** Runs the work while everybody else waits. Sections on one namespace follow each other. */
  async hold<T>(ns: string, work: () => Promise<T>): Promise<T> {
    for (let blocked = this.#sections.get(ns); blocked !== undefined; blocked = this.#sections.get(ns)) await blocked.promise
    const section = createDeferred<void>()
    this.#sections.set(ns, section)
    try {
      return await work()
    } finally {
      this.#sections.delete(ns)
      section.resolve()
    }
  }
}
