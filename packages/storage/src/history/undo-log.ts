/**
 * How to undo the newest changes of an engine, for reads of the past: the documents before changes,
 * which the storage keeps as long as something refers to them. Server: the history store of
 * WiredTiger.
 */
import type { LogEntry } from '../log/log-entry.js'
import { UndoChunk, undoOps, undosInChunk, type CollectionsBefore, type UndoOp } from './undo-chunk.js'

type Time = LogEntry['ts']

export interface Undo {
  readonly op: UndoOp
  readonly ns: string
  /** Of the first document of a run of inserts: each of the others has the next increment. */
  readonly ts: Time
  /** Of i and d. The records of a run follow each other. */
  readonly recordId: number
  /** Of i. */
  readonly count: number
  /** Of u and d: the document before the change; else null. */
  readonly document: Uint8Array | null
  /** Of c; else null. */
  readonly collections: CollectionsBefore | null
}

/** Of one, without its document. */
const undoBytes = 64
const runOfInserts = undoOps.indexOf('i')

export class UndoLog {
  readonly #bytesMax: number
  #chunks: UndoChunk[] = []
  /** Numbers of undos; that of the first one in the first chunk is 0. */
  #first = 0
  #end = 0
  #bytes = 0
  #horizon: Time = [0, 0]
  #spare: UndoChunk | null = null

  /** @param bytesMax of all, with the documents and collections that only they keep alive */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** States before this time are lost. */
  get horizon(): Time {
    return this.#horizon
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  /** The time of the last change, or the horizon if nothing has changed since. */
  get lastTs(): Time {
    return this.#end === this.#first ? this.#horizon : this.#lastTsOf(this.#end - 1)
  }

  inserted(ns: string, ts: Time, recordId: number, count: number): void {
    if (this.#end > this.#first && this.#growsRun(ns, ts, recordId, count)) return
    const { chunk, at } = this.#add('i', ns, ts, 0)
    chunk.recordIds[at] = recordId
    chunk.counts[at] = count
  }

  #growsRun(ns: string, ts: Time, recordId: number, added: number): boolean {
    const { chunk, at } = this.#place(this.#end - 1)
    const { counts, increments, namespaces, ops, recordIds, seconds } = chunk
    const count = counts[at]!
    const continues =
      ops[at] === runOfInserts &&
      seconds[at] === ts[0] &&
      increments[at]! + count === ts[1] &&
      recordIds[at]! + count === recordId &&
      namespaces[at] === ns
    if (continues) counts[at] = count + added
    return continues
  }

  updated(ns: string, ts: Time, document: Uint8Array): void {
    this.#addDocument('u', ns, ts, document)
  }

  deleted(ns: string, ts: Time, recordId: number, document: Uint8Array): void {
    const { chunk, at } = this.#addDocument('d', ns, ts, document)
    chunk.recordIds[at] = recordId
  }

  /** @param keptBytes of collections that were dropped */
  catalogChanged(ts: Time, before: CollectionsBefore, keptBytes: number): void {
    const { chunk, at } = this.#add('c', '', ts, keptBytes)
    chunk.collections[at] = before
    this.#dropBeyondSize()
  }

  #addDocument(op: UndoOp, ns: string, ts: Time, document: Uint8Array): { chunk: UndoChunk; at: number } {
    const place = this.#add(op, ns, ts, document.length)
    const { chunk, at } = place
    chunk.buffers[at] = document.buffer
    chunk.starts[at] = document.byteOffset
    chunk.lengths[at] = document.length
    if (this.#bytes > this.#bytesMax) this.#dropBeyondSize()
    return place
  }

  #add(op: UndoOp, ns: string, ts: Time, keptBytes: number): { chunk: UndoChunk; at: number } {
    const number = this.#end++
    if (number >= this.#chunks.length * undosInChunk) {
      this.#chunks.push(this.#spare ?? new UndoChunk())
      this.#spare = null
    }
    const place = this.#place(number)
    const { chunk, at } = place
    chunk.reserve(at)
    chunk.ops[at] = undoOps.indexOf(op)
    chunk.namespaces[at] = ns
    chunk.seconds[at] = ts[0]
    chunk.increments[at] = ts[1]
    chunk.counts[at] = 1
    chunk.sizes[at] = undoBytes + keptBytes
    this.#bytes += undoBytes + keptBytes
    return place
  }

  #place(number: number): { readonly chunk: UndoChunk; readonly at: number } {
    return { chunk: this.#chunks[Math.floor(number / undosInChunk)]!, at: number % undosInChunk }
  }

  #lastTsOf(number: number): Time {
    const { chunk, at } = this.#place(number)
    return [chunk.seconds[at]!, chunk.increments[at]! + chunk.counts[at]! - 1]
  }

  #firstTsOf(number: number): Time {
    const { chunk, at } = this.#place(number)
    return [chunk.seconds[at]!, chunk.increments[at]!]
  }

  #dropBeyondSize(): void {
    while (this.#bytes > this.#bytesMax && this.#first < this.#end) this.#dropOldest()
  }

  #dropOldest(): void {
    this.#horizon = this.#lastTsOf(this.#first)
    this.#release(this.#first++)
    if (this.#first < undosInChunk) return
    this.#spare = this.#chunks.shift()!
    this.#first -= undosInChunk
    this.#end -= undosInChunk
  }

  #release(number: number): void {
    const { chunk, at } = this.#place(number)
    chunk.release(at)
    this.#bytes -= chunk.sizes[at]!
  }

  /** States before this time are not needed. */
  expire(time: Time): void {
    while (this.#first < this.#end && compareTimes(this.#lastTsOf(this.#first), time) <= 0) this.#dropOldest()
  }

  /**
   * Drops everything.
   * @param horizon the time of the last change
   */
  clear(horizon: Time = this.lastTs): void {
    this.#chunks = []
    this.#spare = null
    this.#first = this.#end = this.#bytes = 0
    this.#horizon = horizon
  }

  /** Drops the newest ones, whose changes are gone. */
  cutAfter(time: Time): void {
    while (this.#first < this.#end && compareTimes(this.#firstTsOf(this.#end - 1), time) > 0) this.#release(--this.#end)
    if (compareTimes(this.lastTs, time) <= 0) return
    const { chunk, at } = this.#place(this.#end - 1)
    if (this.#first < this.#end) chunk.counts[at] = time[1] - chunk.increments[at]! + 1
    else this.#horizon = time
  }

  /** The changes after one time and up to another, newest first. */
  *between(after: Time, upTo: Time): Generator<Undo, void, void> {
    for (let number = this.#end - 1; number >= this.#first; number--) {
      if (compareTimes(this.#lastTsOf(number), after) <= 0) return
      if (compareTimes(this.#firstTsOf(number), upTo) <= 0) yield this.#undo(number)
    }
  }

  #undo(number: number): Undo {
    const { chunk, at } = this.#place(number)
    const { buffers, collections, counts, lengths, namespaces, ops, recordIds, starts } = chunk
    const buffer = buffers[at]!
    return {
      op: undoOps[ops[at]!]!,
      ns: namespaces[at]!,
      ts: this.#firstTsOf(number),
      recordId: recordIds[at]!,
      count: counts[at]!,
      document: buffer === null ? null : new Uint8Array(buffer, starts[at], lengths[at]),
      collections: collections[at]!,
    }
  }

  /** The time of the last change up to this time, or the horizon if nothing changed before it. */
  timeOfChange(upTo: Time): Time {
    for (let number = this.#end - 1; number >= this.#first; number--) {
      if (compareTimes(this.#firstTsOf(number), upTo) > 0) continue
      const last = this.#lastTsOf(number)
      return compareTimes(last, upTo) <= 0 ? last : upTo
    }
    return this.#horizon
  }

  clone(): UndoLog {
    const copy = new UndoLog(this.#bytesMax)
    copy.adopt(this)
    return copy
  }

  adopt(other: UndoLog): void {
    this.#chunks = other.#chunks.map((chunk) => chunk.clone())
    this.#first = other.#first
    this.#end = other.#end
    this.#bytes = other.#bytes
    this.#horizon = other.#horizon
  }
}

export function compareTimes(a: Time, b: Time): number {
  return a[0] === b[0] ? a[1] - b[1] : a[0] - b[0]
}
