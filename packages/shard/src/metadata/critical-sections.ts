import { createDeferred, type Deferred } from '@shardlab/actor'
import type { Entrant } from '@shardlab/node'
import type { CriticalSection, EnterableSections, ExclusiveSections } from '../host/host.js'
import { isRead } from './is-read.js'

class Section implements CriticalSection {
  readonly #sections: Map<string, Section>
  readonly #ns: string
  onlyWrites: boolean
  /** Null: no waiters. */
  #ended: Deferred<void> | null = null

  constructor(sections: Map<string, Section>, ns: string, onlyWrites: boolean) {
    this.#sections = sections
    this.#ns = ns
    this.onlyWrites = onlyWrites
  }

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
 * Blocks commands of routers while a placement changes. A section on a database covers its
 * collections.
 * Server: critical sections of ShardingRecoveryService; those of migrations have two phases,
 * README_migrations.
 */
export class CriticalSections implements EnterableSections, ExclusiveSections {
  readonly #sections = new Map<string, Section>()

  blocking(ns: string, command?: Entrant): Promise<void> | undefined {
    // Before the closure: each command of a router comes here.
    if (this.#sections.size === 0) return undefined
    return this.#blocking(ns, ({ onlyWrites }) => !(onlyWrites && command !== undefined && isRead(command)))
  }

  blockingReads(ns: string): Promise<void> | undefined {
    return this.#blocking(ns, ({ onlyWrites }) => !onlyWrites)
  }

  #blocking(ns: string, blocks: (section: Section) => boolean): Promise<void> | undefined {
    const dot = ns.indexOf('.')
    for (const name of dot < 0 ? [ns] : [ns, ns.slice(0, dot)]) {
      const section = this.#sections.get(name)
      if (section !== undefined && blocks(section)) return section.ended
    }
    return undefined
  }

  enterNow(ns: string, blocks: 'writes' | 'all'): CriticalSection {
    if (this.#sections.has(ns)) throw new Error(`there is a critical section on ${ns}`)
    const section = new Section(this.#sections, ns, blocks === 'writes')
    this.#sections.set(ns, section)
    return section
  }

  enterIfFree(ns: string, blocks: 'writes' | 'all'): CriticalSection | null {
    return this.#sections.has(ns) ? null : this.enterNow(ns, blocks)
  }

  async enter(ns: string, blocks: 'writes' | 'all'): Promise<CriticalSection> {
    for (let section = this.#sections.get(ns); section !== undefined; section = this.#sections.get(ns))
      await section.ended
    return this.enterNow(ns, blocks)
  }

  async hold<T>(ns: string, work: () => Promise<T>): Promise<T> {
    return inside(await this.enter(ns, 'all'), work)
  }

  async holdAfter<T>(
    ns: string,
    entering: (enter: () => void) => Promise<unknown>,
    work: () => Promise<T>,
  ): Promise<T> {
    let section: CriticalSection | null = null
    await entering(() => {
      section = this.enterNow(ns, 'all')
    })
    return inside(section!, work)
  }
}

async function inside<T>(section: CriticalSection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    section.leave()
  }
}
