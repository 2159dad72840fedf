import { unzeroed } from '@shardlab/actor'

const firstSlabBytes = 1024
const slabBytesMax = 64 * 1024
/** A new slab is so large a part of what there is: a large cluster has a thousand logs, and much of them would lie idle. */
const grownPart = 4

interface Slab {
  readonly bytes: Uint8Array
  /** Where each record ends; the first one begins at 0. */
  readonly ends: number[]
}

/** Records one after the other in a few pieces of memory: a buffer for each would take more than what most of them hold. */
export class RecordLog {
  readonly #slabs: Slab[]
  /** What is written next goes into the last slab as long as it has room; another log may share those before it. */
  #isOpen = false
  #slabBytes = 0

  constructor(slabs: readonly Slab[] = []) {
    this.#slabs = [...slabs]
    for (const { bytes } of slabs) this.#slabBytes += bytes.length
  }

  append(record: Uint8Array): void {
    const slab = this.#slabWithRoom(record.length)
    const start = slab.ends.at(-1) ?? 0
    slab.bytes.set(record, start)
    slab.ends.push(start + record.length)
  }

  /** An empty log, in memory of this one that nobody shares; nobody may read this one any more. */
  emptied(): RecordLog {
    const log = new RecordLog()
    const last = this.#slabs.at(-1)
    if (this.#isOpen && last !== undefined && last.bytes.length <= slabBytesMax) {
      log.#slabs.push({ bytes: last.bytes, ends: [] })
      log.#slabBytes = last.bytes.length
      log.#isOpen = true
    }
    return log
  }

  /** A log of its own with the same records, which both share. */
  clone(): RecordLog {
    this.#isOpen = false
    return new RecordLog(this.#slabs)
  }

  /** Views, until the log is {@link emptied}: nobody writes to them. */
  records(): Uint8Array[] {
    return this.#slabs.flatMap(({ bytes, ends }) => ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1]!, end)))
  }

  #slabWithRoom(length: number): Slab {
    const last = this.#slabs.at(-1)
    if (this.#isOpen && last !== undefined && (last.ends.at(-1) ?? 0) + length <= last.bytes.length) return last
    const grown = Math.min(slabBytesMax, Math.max(firstSlabBytes, Math.ceil(this.#slabBytes / grownPart)))
    const slab: Slab = { bytes: unzeroed(Math.max(grown, length)), ends: [] }
    this.#slabs.push(slab)
    this.#slabBytes += slab.bytes.length
    this.#isOpen = true
    return slab
  }
}
