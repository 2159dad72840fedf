/** Versions: the placement version of a generation of a collection never goes back, and each chunk has one of its own. */
import type { CatalogTable } from '../watch/catalog-table.js'

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
