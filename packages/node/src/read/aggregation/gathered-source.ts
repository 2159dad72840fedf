import { batchBytesMax, type TimeLimit } from '@shardlab/member'
import type { CursorSource, FillingCommand } from '../../cursors/cursor-manager.js'

export class GatheredSource implements CursorSource {
  readonly #source: CursorSource
  #ready: Uint8Array[] = []
  #taken = 0

  /** @param source one with {@link CursorSource.fill} */
  constructor(source: CursorSource) {
    this.#source = source
  }

  async gather(invocation: FillingCommand, countMax: number, timeLimit: TimeLimit | null): Promise<void> {
    const ready = (this.#ready = this.#ready.slice(this.#taken))
    this.#taken = 0
    let bytes = ready.reduce((sum, { length }) => sum + length, 0)
    // Reads one document beyond a full batch, so that a full batch does not look like the last one.
    while (ready.length < countMax && bytes <= batchBytesMax) {
      const document = this.#source.next()
      if (document !== null) {
        ready.push(document)
        bytes += document.length
      } else if (this.#source.dry === true) await this.#source.fill!(invocation, timeLimit)
      else return
    }
  }

  next(): Uint8Array | null {
    if (this.#taken < this.#ready.length) return this.#ready[this.#taken++]!
    this.#ready.length = 0
    this.#taken = 0
    return null
  }

  recordCost(): void {
    this.#source.recordCost?.()
  }

  close(): void {
    this.#source.close?.()
  }
}
