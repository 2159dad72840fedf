/**
 * The dependencies of committed transactions: `ww` overwrites a version, `wr` reads a version, `rw`
 * overwrites a version that another one has read, `session` comes later in its session.
 */
import type { ListTransaction } from './history.js'
import { externalReads, type Observations } from './observations.js'

export type DependencyKind = 'ww' | 'wr' | 'rw' | 'session'

export interface Dependency {
  readonly kind: DependencyKind
  readonly from: ListTransaction
  readonly to: ListTransaction
  /** Null: of a session. */
  readonly key: number | null
}

export class DependencyGraph {
  readonly #from = new Map<ListTransaction, Dependency[]>()

  constructor(observations: Observations, keys: Iterable<number>) {
    const committed = new Set(observations.committed)
    const add = (kind: DependencyKind, from?: ListTransaction, to?: ListTransaction, key: number | null = null) => {
      if (from === undefined || to === undefined || from === to || !committed.has(from) || !committed.has(to)) return
      const all = this.#from.get(from) ?? []
      if (!all.some((each) => each.kind === kind && each.to === to)) all.push({ kind, from, to, key })
      this.#from.set(from, all)
    }
    for (const key of keys) {
      const writers = observations.versions(key).map((value) => observations.writerOf(key, value))
      writers.slice(1).forEach((to, i) => add('ww', writers[i], to, key))
    }
    const newest = new Map<number, ListTransaction>()
    for (const transaction of observations.committed) {
      for (const { key, values } of externalReads(transaction)) {
        const versions = observations.versions(key)
        const at = values.length === 0 ? 0 : versions.indexOf(values.at(-1)!) + 1
        if (values.length > 0) add('wr', observations.writerOf(key, values.at(-1)!), transaction, key)
        if (at > 0 || values.length === 0) add('rw', transaction, observations.writerOf(key, versions[at]!), key)
      }
      const { session } = transaction
      if (session === null) continue
      add('session', newest.get(session), transaction)
      newest.set(session, transaction)
    }
  }

  from(transaction: ListTransaction): readonly Dependency[] {
    return this.#from.get(transaction) ?? []
  }

  all(): Dependency[] {
    return [...this.#from.values()].flat()
  }
}
