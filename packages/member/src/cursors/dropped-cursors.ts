export interface DroppedCursorsOptions {
  readonly cursorsMax: number
  /** Of documents that only these cursors keep. */
  readonly bytesMax: number
  /** Ignores cursors that are not open. */
  readonly close: (id: bigint) => void
  readonly onLimit: (limit: 'droppedCursorsMax' | 'droppedBytesMax', value: number) => void
}

interface Group {
  readonly ids: bigint[]
  readonly bytes: number
}

/**
 * Open cursors of dropped collections. As on the server, their next getMore reports the drop; it
 * may never come, so those whose collection was dropped first are closed beyond a limit.
 */
export class DroppedCursors {
  readonly #options: DroppedCursorsOptions
  readonly #groups: Group[] = []
  readonly #ids = new Set<bigint>()
  #bytes = 0

  constructor(options: DroppedCursorsOptions) {
    this.#options = options
  }

  /**
   * @param ids of the cursors of one collection or database; known ones are ignored
   * @param bytes of the documents that these cursors keep
   */
  add(ids: readonly bigint[], bytes: number): void {
    const added = ids.filter((id) => !this.#ids.has(id))
    if (added.length === 0) return
    this.#groups.push({ ids: added, bytes })
    for (const id of added) this.#ids.add(id)
    this.#bytes += bytes
    const { cursorsMax, bytesMax, onLimit } = this.#options
    if (this.#ids.size > cursorsMax) onLimit('droppedCursorsMax', cursorsMax)
    else if (this.#bytes > bytesMax) onLimit('droppedBytesMax', bytesMax)
    while (this.#ids.size > cursorsMax || this.#bytes > bytesMax) this.#closeOne()
  }

  #closeOne(): void {
    const { ids, bytes } = this.#groups[0]!
    const id = ids.pop()!
    this.#ids.delete(id)
    this.#options.close(id)
    if (ids.length > 0) return
    this.#groups.shift()
    this.#bytes -= bytes
  }
}
