/**
 * Versions: the placement version of a generation of a collection never goes back, wherever it is
 * known, and each chunk has one of its own.
 */
import type { PlacementVersion } from '@shardlab/sharding'
import type { CatalogTable } from '../watch/catalog-table.js'

/** What shards and routers say that they know. */
export class KnownVersions {
  /** By member, namespace and generation: the highest version so far. */
  readonly #highest = new Map<string, Map<string, number>>()

  /** What is wrong with what a member knows now. */
  seen(member: string, versions: Readonly<Record<string, PlacementVersion>>): string[] {
    const wrong: string[] = []
    const known = this.#highest.get(member) ?? new Map<string, number>()
    this.#highest.set(member, known)
    for (const [ns, [epoch, seconds, increment, major, minor]] of Object.entries(versions)) {
      const generation = `${ns} ${epoch} ${seconds} ${increment}`
      const version = major * 2 ** 20 + minor
      const before = known.get(generation) ?? 0
      if (version < before)
        wrong.push(`${member} went back from version ${textOf(before)} of ${ns} to ${textOf(version)}`)
      known.set(generation, Math.max(version, before))
    }
    return wrong
  }

  /** What it knew is in nobody's memory any more. */
  forget(member: string): void {
    this.#highest.delete(member)
  }

  /**
   * The config server had not written down what it said: what was learned of it may never have
   * been.
   */
  forgetAll(): void {
    this.#highest.clear()
  }
}

export class VersionHistory {
  /** By generation: the highest version so far. */
  readonly #highest = new Map<string, number>()

  /** What is wrong with what the catalog says now. */
  seen({ ns, generation, ranges }: CatalogTable): string[] {
    const wrong: string[] = []
    const versions = new Set(ranges.map(({ version }) => version))
    const version = Math.max(0, ...versions)
    const before = this.#highest.get(generation) ?? 0
    if (version < before) wrong.push(`${ns} went back from version ${textOf(before)} to ${textOf(version)}`)
    this.#highest.set(generation, Math.max(version, before))
    if (versions.size !== ranges.length) wrong.push(`${ns} has ${ranges.length} chunks and ${versions.size} versions`)
    return wrong
  }

  /** Who had not written down what it said may say something else now. */
  forget(): void {
    this.#highest.clear()
  }
}

const textOf = (version: number): string => `${Math.floor(version / 2 ** 20)}|${version % 2 ** 20}`
