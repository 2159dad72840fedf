/** Where arrays have been met in the documents of an index, ever: that a document is gone is never taken back, as in the server. */
import type { DocumentKeys, MultikeyPaths } from './index-keys.js'

// Sets are replaced, never added to: all indexes may share these.
const noComponents: ReadonlySet<number> = new Set()
const noPaths: ReadonlySet<string> = new Set()

export class KnownArrays {
  #components: MultikeyPaths
  #paths: ReadonlySet<string>

  private constructor(components: MultikeyPaths, paths: ReadonlySet<string>) {
    this.#components = components
    this.#paths = paths
  }

  static none(fields: number): KnownArrays {
    return new KnownArrays(new Array<ReadonlySet<number>>(fields).fill(noComponents), noPaths)
  }

  get components(): MultikeyPaths {
    return this.#components
  }
  /** Of a wildcard index. */
  get paths(): ReadonlySet<string> {
    return this.#paths
  }
  get some(): boolean {
    return this.#paths.size > 0 || this.#components.some(({ size }) => size > 0)
  }

  clone(): KnownArrays {
    return new KnownArrays(this.#components, this.#paths)
  }

  restore(components: MultikeyPaths, paths: readonly string[]): void {
    this.#components = components.map((each) => new Set(each))
    this.#paths = new Set(paths)
  }

  note({ arrays, arrayPaths }: DocumentKeys): void {
    if (arrays !== null) this.#noteComponents(arrays)
    if (arrayPaths !== undefined) this.#notePaths(arrayPaths)
  }

  #noteComponents(arrays: MultikeyPaths): void {
    this.#components = this.#components.map((known, i) => {
      const isNews = [...arrays[i]!].some((component) => !known.has(component))
      return isNews ? new Set([...known, ...arrays[i]!]) : known
    })
  }

  #notePaths(paths: ReadonlySet<string>): void {
    for (const path of paths) {
      if (this.#paths.has(path)) continue
      this.#paths = new Set([...this.#paths, ...paths])
      return
    }
  }
}
