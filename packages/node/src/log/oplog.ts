/**
 * The newest entries of the log, as bytes. Server: oplog.cpp, local.oplog.rs; manual:
 * core/replica-set-oplog.
 */
import { unzeroed } from '@shardlab/actor'
import { readUint32 } from '@shardlab/bson'
import { opTimeOf, type OpTime } from '@shardlab/storage'
import { OplogSlab } from './oplog-slab.js'
import { OplogWindow, type TimedOpTime } from './oplog-window.js'

export type EntriesAfter =
  /** Whole entries, one after the other; empty: there are none yet. They never change. */
  | { readonly outcome: 'entries'; readonly entries: Uint8Array }
  /** `diverged`: the oplog has no such entry. `too-old`: it has dropped the position. */
  | { readonly outcome: 'diverged' | 'too-old' }

/** So large that the C library maps it, and returns it to the operating system. */
const slabBytesMax = 256 * 1024
const slabBytesMin = 4 * 1024

/**
 * Records up to this size, and a quarter of the oplog, are in one slab. Another member fetches a
 * slab as a whole, so it never has a part of such a record: changes that one turn has made are on
 * a member together or not at all.
 */
export const wholeBytesMax = 4 * 1024 * 1024

/**
 * Entries are appended when they are written to the disk, and readers see them once they are on it
 * ({@link reveal}). Slabs are shared with snapshots and copies, and never change while they are.
 */
export class Oplog {
  readonly #configuredBytesMax: number
  #sizeBytesMax!: number
  #slabBytes!: number
  #slabs: OplogSlab[] = []
  /** The position after all entries, and after those that are on the disk. */
  #end = 0
  #revealed = 0
  /** Null after a change. */
  #window: OplogWindow | null = null
  /** As {@link #window}, for this oplog alone: it does not keep slabs from being written again. */
  #peeked: OplogWindow | null = null
  /** This entry and later ones are kept beyond the size; null: none. */
  #keptFrom: OpTime | null = null
  /** Its position, or a lower one. Null: not known yet, because nothing exceeded the size. */
  #keptPosition: number | null = null
  /** Of a dropped slab: written again, because new memory is slow at first. */
  #spare: Uint8Array | null = null

  /** @param sizeBytesMax the newest entry is kept even if it is larger */
  constructor(sizeBytesMax: number) {
    this.#configuredBytesMax = sizeBytesMax
    this.#setSize(sizeBytesMax)
  }

  get sizeBytesMax(): number {
    return this.#sizeBytesMax
  }

  #setSize(sizeBytesMax: number): void {
    this.#sizeBytesMax = sizeBytesMax
    this.#slabBytes = Math.min(slabBytesMax, Math.ceil(sizeBytesMax / 16))
    this.#spare = null
  }

  /** By {@link keepFrom}. */
  get keepsEntries(): boolean {
    return this.#keptFrom !== null
  }

  /** Whether {@link keepFrom} keeps entries beyond the size. */
  get isOversized(): boolean {
    return this.#keptFrom !== null && this.#slabs.length > 1 && this.#end - this.#slabs[1]!.position > this.sizeBytesMax
  }

  /**
   * The entry with this optime and later ones are kept, whatever their size.
   * @param optime the null optime: all; null: none. Server: WiredTigerKVEngine::getPinnedOplog
   */
  keepFrom(optime: OpTime | null): void {
    this.#keptFrom = optime
    this.#keptPosition = null
    if (this.#isBeyondSize) this.reveal(this.#revealed)
  }

  /**
   * Drops the oldest entries beyond a size, now and later.
   * @param sizeBytesMax null: the size that it was created with; dropped entries do not return
   */
  resize(sizeBytesMax: number | null): void {
    this.#setSize(Math.min(sizeBytesMax ?? this.#configuredBytesMax, this.#configuredBytesMax))
    const window = new OplogWindow(this.#slabs, this.#end)
    const keptFrom = this.#keptPositionUpTo(this.#revealed)
    let from = window.end
    for (const [position] of window.entriesBackwards()) {
      const isKept = position >= keptFrom || from === window.end
      if (window.end - position > this.#sizeBytesMax && !isKept) break
      from = position
    }
    this.#slabs = []
    this.#end = from
    for (const part of window.parts(from)) this.append(part)
    this.#changed()
  }

  /** The position after all entries, for {@link reveal} and {@link cutTo}. */
  get end(): number {
    return this.#end
  }

  /** @param record whole entries. Copied */
  append(record: Uint8Array): void {
    const { length } = record
    if (length === 0) return
    const last = this.#slabs.length === 0 ? undefined : this.#slabs[this.#slabs.length - 1]!
    if (last !== undefined && last.end + length <= last.bytes.length) this.#write(last, record)
    else if (length <= this.#wholeBytesMax) this.#write(this.#open(length), record)
    else this.#appendInSlabs(record)
  }

  #write(slab: OplogSlab, entries: Uint8Array): void {
    slab.bytes.set(entries, slab.end)
    slab.end += entries.length
    this.#end += entries.length
  }

  get #wholeBytesMax(): number {
    return Math.min(wholeBytesMax, this.#sizeBytesMax / 4)
  }

  /** Shows entries to readers, up to this position, and drops the oldest ones beyond the size. */
  reveal(position = this.#end): void {
    this.#revealed = Math.max(position, this.#revealed)
    this.#changed()
    if (this.#isBeyondSize) this.#drop(this.#countBeyondSize(this.#revealed))
  }

  get #isBeyondSize(): boolean {
    return this.#slabs.length > 1 && this.#end - this.#slabs[0]!.position > this.sizeBytesMax
  }

  /** Removes entries after this position, which were not written to the disk. */
  cutTo(position: number): void {
    if (position >= this.#end) return
    this.#keptPosition = null
    this.#revealed = Math.min(this.#revealed, position)
    this.#end = position
    this.#changed()
    while (this.#slabs.length > 0 && this.#slabs.at(-1)!.position >= position) this.#slabs.pop()
    const last = this.#slabs.pop()
    if (last === undefined) return
    // A new slab follows: snapshots may share the bytes after this position.
    const end = last.start + position - last.position
    const cut = new OplogSlab(last.bytes.subarray(0, end), last.start, end, last.position)
    cut.isShared = true
    this.#slabs.push(cut)
  }

  /** The entries on the disk. Later changes do not affect it. */
  window(): OplogWindow {
    return (this.#window ??= new OplogWindow(shared(this.#slabs), this.#revealed))
  }

  #peek(): OplogWindow {
    return this.#window ?? (this.#peeked ??= new OplogWindow([...this.#slabs], this.#revealed))
  }

  #changed(): void {
    this.#window = null
    this.#peeked = null
  }

  /**
   * Also the entries that are not yet on the disk, for a checkpoint that includes them.
   * @param isKept false: nothing is appended while it is read
   */
  windowOfAll(isKept = true): OplogWindow {
    const slabs = this.#slabs.slice(this.#countBeyondSize(this.#end))
    return new OplogWindow(isKept ? shared(slabs) : slabs, this.#end)
  }

  /** The oldest entry; null: there is none. */
  get first(): TimedOpTime | null {
    return this.#peek().first
  }

  /** The newest entry on the disk; null: there is none. */
  get last(): TimedOpTime | null {
    return this.#peek().last
  }

  contains(optime: OpTime): boolean {
    return this.#peek().positionAfter(optime) !== undefined
  }

  /** At most about `bytesMax` of the entries after a position, and at least one if any. */
  entriesAfter(optime: OpTime, bytesMax: number): EntriesAfter {
    const window = this.#peek()
    const position = window.positionAfter(optime)
    if (position !== undefined) {
      const entries = window.bytesAt(position, bytesMax)
      for (const slab of this.#slabs) if (slab.bytes.buffer === entries.buffer) slab.isShared = true
      return { outcome: 'entries', entries }
    }
    const isDropped = window.sizeBytes === 0 || window.seek(optime.ts) === window.start
    return { outcome: isDropped ? 'too-old' : 'diverged' }
  }

  /** Newest first, to search for the newest common entry of two oplogs. */
  *optimesBackwards(): Generator<OpTime, void, void> {
    for (const [, entry] of this.window().entriesBackwards()) yield opTimeOf(entry)
  }

  /**
   * Removes the entries after this one, for a rollback. The disk still has them until the next
   * checkpoint.
   * @throws Error if the oplog does not have the entry
   */
  truncateAfter(optime: OpTime): void {
    const position = this.#peek().positionAfter(optime)
    if (position === undefined)
      throw new Error(`the oplog has no entry at ${optime.ts.join(', ')} of term ${optime.term}`)
    this.cutTo(position)
  }

  /**
   * Replaces all entries by others that are on the disk. Positions continue to grow.
   * @param records one after the other
   */
  replace(records: Iterable<Uint8Array>): void {
    this.#slabs = []
    this.#keptPosition = null
    for (const record of records) this.append(record)
    this.reveal()
  }

  /** Shares the slabs; both may append. No write may be in progress. */
  adopt(other: Oplog): void {
    this.#slabs = shared(
      shared(other.#slabs).map(
        ({ bytes, start, end, position }) => new OplogSlab(bytes.subarray(0, end), start, end, position),
      ),
    )
    this.#changed()
    this.#keptPosition = null
    this.#end = other.#end
    this.#revealed = other.#revealed
  }

  clone(): Oplog {
    const copy = new Oplog(this.#configuredBytesMax)
    copy.adopt(this)
    return copy
  }

  #appendInSlabs(record: Uint8Array): void {
    let slab = this.#slabs.at(-1)
    for (let at = 0; at < record.length;) {
      let end = slab === undefined ? at : endWithin(record, at, slab.bytes.length - slab.end)
      if (slab === undefined || end === at) {
        end = Math.max(endWithin(record, at, this.#slabBytes), at + readUint32(record, at))
        slab = this.#open(end - at)
      }
      this.#write(slab, record.subarray(at, end))
      at = end
    }
  }

  /** Slabs grow with the oplog, so that a small node does not hold a full one. */
  #open(lengthBytes: number): OplogSlab {
    const heldBytes = this.#end - (this.#slabs[0]?.position ?? this.#end)
    const sizeBytes = Math.max(lengthBytes, Math.min(this.#slabBytes, Math.max(slabBytesMin, heldBytes)))
    const bytes = this.#spare?.length === sizeBytes ? this.#spare : unzeroed(sizeBytes)
    if (bytes === this.#spare) this.#spare = null
    const slab = new OplogSlab(bytes, 0, 0, this.#end)
    this.#slabs.push(slab)
    return slab
  }

  #drop(count: number): void {
    for (const { bytes, isShared } of this.#slabs.splice(0, count)) if (!isShared) this.#spare = bytes
  }

  /**
   * The position from which entries are kept beyond the size, at most this one. Entries are only
   * added after it, so it is sought once: an oplog far beyond its size is asked at each write.
   */
  #keptPositionUpTo(most: number): number {
    if (this.#keptFrom === null) return most
    this.#keptPosition ??= this.#peek().seek(this.#keptFrom.ts)
    return Math.min(most, this.#keptPosition)
  }

  /** How many of the oldest slabs exceed the size and have no entry at or after this position. */
  #countBeyondSize(most: number): number {
    // A slab that ends at the position of a kept entry does not have it.
    const position = this.#keptFrom === null ? most : Math.min(most, this.#keptPositionUpTo(most) + 1)
    let count = 0
    while (
      count < this.#slabs.length - 1 &&
      this.#end - this.#slabs[count]!.position > this.sizeBytesMax &&
      this.#slabs[count]!.endPosition < position
    )
      count++
    return count
  }
}

/** A copy of the list. */
function shared(slabs: readonly OplogSlab[]): OplogSlab[] {
  for (const slab of slabs) slab.isShared = true
  return [...slabs]
}

/** The end of the whole entries within so many bytes. */
function endWithin(entries: Uint8Array, start: number, bytesMax: number): number {
  if (entries.length - start <= bytesMax) return entries.length
  let end = start
  for (;;) {
    const next = end + readUint32(entries, end)
    if (next - start > bytesMax) return end
    end = next
  }
}
