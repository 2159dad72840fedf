import { unzeroed } from '@shardlab/actor'
import { readUint32, writeInt32 } from '@shardlab/bson'
import { largeSlabs, smallSlabs } from './log-slabs.js'

/** From here on a log grows in large pieces. */
const longBytes = 512 * 1024

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
  /** Those before it. */
  #slabs: Slab[]
  /** So many of them another log may have, too. */
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

  /** Drops all records. Nobody may read them any more, except in the copies of this log. */
  clear(): void {
    giveBack(this.#bytes)
    for (let i = this.#shared; i < this.#slabs.length; i++) giveBack(this.#slabs[i]!.bytes)
    this.#bytes = noBytes
    this.#used = 0
    this.#slabs = []
    this.#shared = 0
    this.#slabBytes = 0
  }

  /** A log of its own with the same records, which both share. */
  clone(): RecordLog {
    this.#close()
    this.#shared = this.#slabs.length
    return new RecordLog(this.#slabs)
  }

  /** Views, until the log is {@link clear}ed: nobody writes to them. */
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

/** Records larger than a slab have had memory of their own. */
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
