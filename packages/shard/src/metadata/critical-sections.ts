import { createDeferred, type Deferred } from '@shardlab/actor'
import type { Entrant } from '@shardlab/node'
import type { CriticalSection, EnterableSections, ExclusiveSections } from '../host/host.js'
import { isRead } from './is-read.js'

class Section implements CriticalSection {
  readonly #sections: Map<string, Section>
  readonly #ns: string
  /** Reads may go on. */
  onlyWrites: boolean
  /** Null: nobody waits. */
  #ended: Deferred<void> | null = null

  constructor(sections: Map<string, Section>, ns: string, onlyWrites: boolean) {
    this.#sections = sections
    this.#ns = ns
    this.onlyWrites = onlyWrites
  }

  /** Of one that is there. */
  get ended(): Promise<void> {
    return (this.#ended ??= createDeferred()).promise
  }

  blockReads(): void {
    this.onlyWrites = false
  }

  leave(): void {
    if (this.#sections.get(this.#ns) === this) this.#sections.delete(this.#ns)
    this.#ended?.resolve()
  }
}

/**
 * Namespaces on which commands of routers wait: while their placement changes. A section on a database name covers its
 * collections. Server: ShardingRecoveryService critical sections; those of migrations have two phases, README_migrations.
 */
export class CriticalSections implements EnterableSections, ExclusiveSections {
  readonly #sections = new Map<string, Section>()

  /** What to wait for before the namespace may be touched; undefined when it is free. `command`: what asks; default: something that writes. */
  blocking(ns: string, command?: Entrant): Promise<void> | undefined {
    if (this.#sections.size === 0) return undefined
    const dot = ns.indexOf('.')
    for (const name of dot < 0 ? [ns] : [ns, ns.slice(0, dot)]) {
      const section = this.#sections.get(name)
      if (section !== undefined && !(section.onlyWrites && command !== undefined && isRead(command)))
        return section.ended
    }
    return undefined
  }

  /** Enters at once: for those who know that nobody is there, as after a restart. @throws Error when somebody is */
  enterNow(ns: string, blocks: 'writes' | 'all'): CriticalSection {
    if (this.#sections.has(ns)) throw new Error(`there is a critical section on ${ns}`)
    const section = new Section(this.#sections, ns, blocks === 'writes')
    this.#sections.set(ns, section)
    return section
  }

  /** Null: somebody is there, see {@link enter}. */
  enterIfFree(ns: string, blocks: 'writes' | 'all'): CriticalSection | null {
    return this.#sections.has(ns) ? null : this.enterNow(ns, blocks)
  }

  /** Sections on one namespace follow each other. */
  async enter(ns: string, blocks: 'writes' | 'all'): Promise<CriticalSection> {
    for (let section = this.#sections.get(ns); section !== undefined; section = this.#sections.get(ns))
      await section.ended
    return this.enterNow(ns, blocks)
  }

  /** Runs the work while everybody else waits. */
  async hold<T>(ns: string, work: () => Promise<T>): Promise<T> {
    const section = await this.enter(ns, 'all')
    try {
      return await work()
    } finally {
      section.leave()
    }
  }
}
