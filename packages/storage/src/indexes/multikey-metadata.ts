/**
 * Which index paths ever contained arrays. As on the server, deleting a document does not reset
 * this.
 */
import type { DocumentKeys, MultikeyPaths } from './index-keys.js'

// Shared by all indexes: the sets are replaced, never changed.
const noComponents: ReadonlySet<number> = new Set()
const noPaths: ReadonlySet<string> = new Set()

export class MultikeyMetadata {
  #components: MultikeyPaths
  #paths: ReadonlySet<string>

  private constructor(components: MultikeyPaths, paths: ReadonlySet<string>) {
    this.#components = components
    this.#paths = paths
  }

  static empty(fields: number): MultikeyMetadata {
    return new MultikeyMetadata(new Array<ReadonlySet<number>>(fields).fill(noComponents), noPaths)
  }

  get components(): MultikeyPaths {
    return this.#components
  }
  get paths(): ReadonlySet<string> {
    return this.#paths
  }
  get isMultikey(): boolean {
    return this.#paths.size > 0 || this.#components.some(({ size }) => size > 0)
  }

  clone(): MultikeyMetadata {
    return new MultikeyMetadata(this.#components, this.#paths)
  }

  restore(components: MultikeyPaths, paths: readonly string[]): void {
    this.#components = components.map((each) => new Set(each))
    this.#paths = new Set(paths)
  }

  record({ arrays, arrayPaths }: DocumentKeys): void {
    if (arrays !== null) this.#recordComponents(arrays)
    if (arrayPaths !== undefined) this.#recordPaths(arrayPaths)
  }

  #recordComponents(arrays: MultikeyPaths): void {
    this.#components = this.#components.map((known, i) => {
      const isNew = [...arrays[i]!].some((component) => !known.has(component))
      return isNew ? new Set([...known, ...arrays[i]!]) : known
    })
  }

  #recordPaths(paths: ReadonlySet<string>): void {
    for (const path of paths) {
      if (this.#paths.has(path)) continue
      this.#paths = new Set([...this.#paths, ...paths])
      return
    }
  }
}
