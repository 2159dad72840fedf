import { unzeroed } from '@shardlab/actor'
import { readUint32, writeInt32 } from '@shardlab/bson'

const firstSlabBytes = 1024
const slabBytesMax = 64 * 1024
/** A new slab is so large a part of what there is: a large cluster has a thousand logs, and much of them would lie idle. */
const grownPart = 4

/** What stands before a record: its length. */
export const recordHeaderBytes = 4

/** Records one behind the other. */
interface Slab {
  readonly bytes: Uint8Array
  readonly used: number
}

const noBytes = unzeroed(0)

/** Records one after the other in a few pieces of memory: a buffer for each would take more than what most of them hold. */
export class RecordLog {
  /** That is written to; nobody else has it. */
  #bytes: Uint8Array = noBytes
  #used = 0
  /** Those before it, which another log may share. */
  readonly #slabs: Slab[]
  #slabBytes = 0

  constructor(slabs: readonly Slab[] = []) {
    this.#slabs = [...slabs]
    for (const { bytes } of slabs) this.#slabBytes += bytes.length
  }

  append(record: Uint8Array): void {
    const { length } = record
    if (this.#used + recordHeaderBytes + length > this.#bytes.length) this.#open(recordHeaderBytes + length)
    const bytes = this.#bytes
    writeInt32(bytes, this.#used, length)
    bytes.set(record, this.#used + recordHeaderBytes)
    this.#used += recordHeaderBytes + length
  }

  /** An empty log, in memory of this one that nobody shares; nobody may read this one any more. */
  emptied(): RecordLog {
    const log = new RecordLog()
    if (this.#bytes.length <= slabBytesMax) {
      log.#bytes = this.#bytes
      log.#slabBytes = this.#bytes.length
    }
    return log
  }

  /** A log of its own with the same records, which both share. */
  clone(): RecordLog {
    this.#close()
    return new RecordLog(this.#slabs)
  }

  /** Views, until the log is {@link emptied}: nobody writes to them. */
  records(): Uint8Array[] {
    return [...this.#slabs, { bytes: this.#bytes, used: this.#used }].flatMap(recordsIn)
  }

  #open(length: number): void {
    this.#close()
    this.#bytes = unzeroed(Math.max(length, Math.min(slabBytesMax, Math.max(firstSlabBytes, Math.ceil(this.#slabBytes / grownPart)))))
    this.#slabBytes += this.#bytes.length
  }

  #close(): void {
    if (this.#used > 0) this.#slabs.push({ bytes: this.#bytes, used: this.#used })
    else this.#slabBytes -= this.#bytes.length
    this.#bytes = noBytes
    this.#used = 0
  }
}

function recordsIn({ bytes, used }: Slab): Uint8Array[] {
  const records: Uint8Array[] = []
  for (let at = 0; at < used;) {
    const start = at + recordHeaderBytes
    at = start + readUint32(bytes, at)
    records.push(bytes.subarray(start, at))
  }
  return records
}
