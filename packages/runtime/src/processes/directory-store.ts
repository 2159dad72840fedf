/**
 * What a process knows about the others, for its next start: the members of sets, and further names
 * of sets. Endpoints are not part of it, since another process may listen there by then.
 */
import type { DirectoryContent, ProcessDirectory } from './process-directory.js'

export interface DirectoryStore {
  /** Undefined: nothing is stored. */
  load(): DirectoryContent | undefined
  save(content: DirectoryContent): void
}

/** Saves the directory when it has changed. */
export class DirectoryKeeper {
  readonly #store: DirectoryStore
  readonly #directory: ProcessDirectory
  readonly #self: number
  #saved: string

  /** @param self the port of this process, whose own members are not stored */
  constructor(store: DirectoryStore, directory: ProcessDirectory, self: number) {
    this.#store = store
    this.#directory = directory
    this.#self = self
    this.#saved = JSON.stringify(store.load() ?? null)
  }

  save(): void {
    const { entries, names } = this.#directory.content(this.#self)
    const others = entries.filter(({ set, owner }) => set !== null && owner !== null && owner !== this.#self)
    const content = { entries: others, names: names.filter(([name]) => !isEndpoint(name)) }
    const text = JSON.stringify(content)
    if (text === this.#saved) return
    this.#store.save(content)
    this.#saved = text
  }
}

const isEndpoint = (name: string): boolean => /:\d+$/.test(name)
