import { findField, readUint32 } from '@shardlab/bson'
import { compareTimestamps } from '@shardlab/actor'
import { opTimeOf, type LogEntry, type OpTime } from '@shardlab/storage'
import type { OplogSlab } from './oplog-slab.js'

/** An entry's optime with the time of day at which its primary wrote it. */
export interface TimedOpTime {
  readonly optime: OpTime
  readonly wallMs: number
}

type Entries = Generator<readonly [position: number, entry: Uint8Array], void, void>

/**
 * The entries of an oplog up to a position. Positions are offsets in bytes since the oplog began;
 * they only grow. Unaffected by later entries, and by those that the oplog drops.
 */
export class OplogWindow {
  readonly #slabs: readonly OplogSlab[]
  /** The position after the newest entry. */
  readonly end: number
  #first: TimedOpTime | null | undefined
  #last: TimedOpTime | null | undefined

  /** @param slabs in order; the last ones may have more entries, after `end` */
  constructor(slabs: readonly OplogSlab[], end: number) {
    this.#slabs = slabs
    this.end = end
  }

  /** The position of the oldest entry; {@link end} if there is none. */
  get start(): number {
    return this.#slabs[0]?.position ?? this.end
  }

  /** The oldest entry; null: there is none. */
  get first(): TimedOpTime | null {
    return (this.#first ??= firstOf(this.entries()))
  }

  /** The newest entry; null: there is none. */
  get last(): TimedOpTime | null {
    return (this.#last ??= firstOf(this.entriesBackwards()))
  }

  get sizeBytes(): number {
    return this.end - this.start
  }

  get count(): number {
    let count = 0
    for (const slab of this.#slabs) count += slab.countBefore(this.#endIn(slab))
    return count
  }

  /** @returns undefined: no entry begins at this position, or the oplog has dropped it */
  entryAt(position: number): Uint8Array | undefined {
    const slab = this.#slabAt(position)
    if (slab === undefined) return undefined
    const at = slab.start + position - slab.position
    const index = slab.countBefore(at)
    if (slab.countBefore(this.#endIn(slab)) === index || slab.startOf(index) !== at) return undefined
    return entryIn(slab.bytes, at)
  }

  /**
   * The position of the first entry whose time is not before this one; {@link end}: there is none.
   */
  seek(ts: LogEntry['ts']): number {
    let [low, high] = [0, this.#slabs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isEmpty(middle) || compareTimestamps(this.#slabs[middle]!.optimeAt(0).ts, ts) > 0) high = middle
      else low = middle + 1
    }
    if (low === 0) return this.start
    const slab = this.#slabs[low - 1]!
    let [first, last] = [0, slab.countBefore(this.#endIn(slab))]
    while (first < last) {
      const middle = (first + last) >> 1
      if (compareTimestamps(slab.optimeAt(middle).ts, ts) < 0) first = middle + 1
      else last = middle
    }
    const end = this.#endIn(slab)
    const at = first < slab.countBefore(end) ? slab.startOf(first) : end
    return slab.position + at - slab.start
  }

  /** The position after the entry with this optime; undefined: the oplog does not have it. */
  positionAfter(optime: OpTime): number | undefined {
    const position = this.seek(optime.ts)
    const entry = this.#entryWith(optime, position)
    return entry === undefined ? undefined : position + entry.length
  }

  /** The entry with this optime; undefined: the oplog does not have it. */
  entryOf(optime: OpTime): Uint8Array | undefined {
    return this.#entryWith(optime, this.seek(optime.ts))
  }

  #entryWith({ ts, term }: OpTime, position: number): Uint8Array | undefined {
    const entry = this.entryAt(position)
    if (entry === undefined) return undefined
    const found = this.#optimeAt(position)
    return compareTimestamps(found.ts, ts) === 0 && found.term === term ? entry : undefined
  }

  /**
   * Entries from a position to the end of their slab, at most about `bytesMax` and at least one.
   * Empty: there are none. The bytes never change.
   */
  bytesAt(position: number, bytesMax: number): Uint8Array {
    const slab = this.#slabAt(position)
    if (slab === undefined) return noBytes
    const from = slab.start + position - slab.position
    const end = this.#endIn(slab)
    if (end - from <= bytesMax) return slab.bytes.subarray(from, end)
    const first = slab.countBefore(from)
    const count = slab.countBefore(from + bytesMax + 1) - first
    // The last of them may end after the limit.
    const to = count <= 1 ? from + readUint32(slab.bytes, from) : slab.startOf(first + count - 1)
    return slab.bytes.subarray(from, to)
  }

  /** Positions and bytes of the entries at positions from `from` to before `to`. */
  *entries(from = this.start, to = this.end): Entries {
    for (let position = Math.max(from, this.start); position < Math.min(to, this.end);) {
      const entry = this.entryAt(position)!
      yield [position, entry]
      position += entry.length
    }
  }

  /** As {@link entries}, newest first. */
  *entriesBackwards(from = this.start, to = this.end): Entries {
    for (let s = this.#slabs.length - 1; s >= 0; s--) {
      const slab = this.#slabs[s]!
      if (slab.position >= to) continue
      const end = Math.min(this.#endIn(slab), slab.start + to - slab.position)
      for (let i = slab.countBefore(end) - 1; i >= 0; i--) {
        const at = slab.startOf(i)
        const position = slab.position + at - slab.start
        if (position < from) return
        yield [position, entryIn(slab.bytes, at)]
      }
    }
  }

  /** The entries at positions from `from` on, by slab: a part ends where a record ends. */
  parts(from = this.start): Uint8Array[] {
    const parts: Uint8Array[] = []
    for (const slab of this.#slabs) {
      const start = slab.start + Math.max(0, from - slab.position)
      const end = this.#endIn(slab)
      if (start < end) parts.push(slab.bytes.subarray(start, end))
    }
    return parts
  }

  #optimeAt(position: number): OpTime {
    const slab = this.#slabAt(position)!
    return slab.optimeAt(slab.countBefore(slab.start + position - slab.position))
  }

  #slabAt(position: number): OplogSlab | undefined {
    if (position < this.start || position >= this.end) return undefined
    let [low, high] = [0, this.#slabs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#slabs[middle]!.position <= position) low = middle + 1
      else high = middle
    }
    return this.#slabs[low - 1]
  }

  #endIn(slab: OplogSlab): number {
    return Math.max(slab.start, Math.min(slab.end, slab.start + this.end - slab.position))
  }

  #isEmpty(index: number): boolean {
    const slab = this.#slabs[index]!
    return slab.countBefore(this.#endIn(slab)) === 0
  }
}

function entryIn(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at, at + readUint32(bytes, at))
}

export function timedOpTimeOf(entry: Uint8Array): TimedOpTime {
  return { optime: opTimeOf(entry), wallMs: Number(findField(entry, 'wall')!.asBigInt()) }
}

function firstOf(entries: Entries): TimedOpTime | null {
  for (const [, entry] of entries) return timedOpTimeOf(entry)
  return null
}

const noBytes = new Uint8Array(0)
