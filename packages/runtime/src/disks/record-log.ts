import { unzeroed } from '@shardlab/actor'
import { readUint32, writeInt32 } from '@shardlab/bson'
import { largeSlabs, smallSlabs } from './log-slabs.js'

/** A log of this size grows by large slabs. */
const longBytes = 512 * 1024

/** The length before each record. */
export const recordHeaderBytes = 4

interface Slab {
  readonly bytes: Uint8Array
  readonly used: number
}

const noBytes = unzeroed(0)

/** Records in a few slabs of memory. A buffer for each record would be larger than most records. */
export class RecordLog {
  /** The slab that is written to. No other log shares it. */
  #bytes: Uint8Array = noBytes
  #used = 0
  #slabs: Slab[]
  /** How many of the full slabs other logs may share. */
  #shared: number
  #slabBytes = 0

  constructor(slabs: readonly Slab[] = []) {
    this.#slabs = [...slabs]
    this.#shared = slabs.length
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

  /** Views of the records must not be read any longer, except those of clones. */
  clear(): void {
    giveBack(this.#bytes)
    for (let i = this.#shared; i < this.#slabs.length; i++) giveBack(this.#slabs[i]!.bytes)
    this.#bytes = noBytes
    this.#used = 0
    this.#slabs = []
    this.#shared = 0
    this.#slabBytes = 0
  }

  /** Shares the memory of the present records. */
  clone(): RecordLog {
    this.#close()
    this.#shared = this.#slabs.length
    return new RecordLog(this.#slabs)
  }

  /** Views, valid until {@link clear}; never write to them. */
  records(): Uint8Array[] {
    return [...this.#slabs, { bytes: this.#bytes, used: this.#used }].flatMap(recordsIn)
  }

  #open(length: number): void {
    this.#close()
    const slabs = this.#slabBytes < longBytes ? smallSlabs : largeSlabs
    this.#bytes = length > slabs.bytes ? unzeroed(length) : slabs.take()
    this.#slabBytes += this.#bytes.length
  }

  #close(): void {
    if (this.#used === 0) return
    this.#slabs.push({ bytes: this.#bytes, used: this.#used })
    this.#bytes = noBytes
    this.#used = 0
  }
}

/** Records larger than a slab have memory of their own, which is left to the collector. */
function giveBack(bytes: Uint8Array): void {
  for (const slabs of [smallSlabs, largeSlabs]) if (bytes.length === slabs.bytes) slabs.give(bytes)
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
