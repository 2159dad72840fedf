/**
 * Versions: within a generation, the placement version never decreases on any member, and chunks
 * have distinct versions.
 */
import type { PlacementVersion } from '@shardlab/sharding'
import { finding, type Finding } from '../finding.js'
import type { CatalogTable } from '../watch/catalog-table.js'

/** As reported by shards and routers. */
export class KnownVersions {
  /** By member, namespace and generation. */
  readonly #highest = new Map<string, Map<string, number>>()

  seen(member: string, versions: Readonly<Record<string, PlacementVersion>>): Finding[] {
    const wrong: Finding[] = []
    const known = this.#highest.get(member) ?? new Map<string, number>()
    this.#highest.set(member, known)
    for (const [ns, [epoch, seconds, increment, major, minor]] of Object.entries(versions)) {
      const generation = `${ns} ${epoch} ${seconds} ${increment}`
      const version = major * 2 ** 20 + minor
      const before = known.get(generation) ?? 0
      if (version < before)
        wrong.push(finding(`${member} went back from version ${textOf(before)} of ${ns} to ${textOf(version)}`, ns))
      known.set(generation, Math.max(version, before))
    }
    return wrong
  }

  /** Call if a member has lost its memory. */
  delete(member: string): void {
    this.#highest.delete(member)
  }

  /** The config server had not flushed what it reported, so all learned versions may be void. */
  clear(): void {
    this.#highest.clear()
  }
}

export class VersionHistory {
  /** By generation. */
  readonly #highest = new Map<string, number>()

  seen({ ns, generation, ranges }: CatalogTable): Finding[] {
    const wrong: Finding[] = []
    const versions = new Set(ranges.map(({ version }) => version))
    const version = Math.max(0, ...versions)
    const before = this.#highest.get(generation) ?? 0
    if (version < before)
      wrong.push(finding(`${ns} went back from version ${textOf(before)} to ${textOf(version)}`, ns))
    this.#highest.set(generation, Math.max(version, before))
    if (versions.size !== ranges.length)
      wrong.push(finding(`${ns} has ${ranges.length} chunks and ${versions.size} versions`, ns))
    return wrong
  }

  /** Unflushed changes may be lost, so versions may decrease once. */
  clear(): void {
    this.#highest.clear()
  }
}

const textOf = (version: number): string => `${Math.floor(version / 2 ** 20)}|${version % 2 ** 20}`
