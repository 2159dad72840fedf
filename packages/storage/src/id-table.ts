/**
 * Which record has which `_id`: a hash table of record ids, without the keys. Whether a record is the one is asked of its document, which its
 * reader wants anyway; where no record is, as before an insert, nothing but the table is touched.
 */
import { encodeKeyString, keyStringHash, stringValue, type RawValue } from '@shardlab/bson'
import { idOf } from './document-id.js'
import type { RecordTable, StoredRecord } from './record-table.js'

/** Hashes of slots that hold nothing: none yet, none any more. */
const empty = 0
const deleted = 1

const slotsMin = 16
/** A table of more slots than this gives memory back when few of them are in use. */
const slotsKept = 1024

function keyOf(id: RawValue): string {
  return encodeKeyString([id])
}

export class IdTable {
  readonly #records: RecordTable
  /** Under a collation: what stands for an `_id`; null without one. */
  readonly #labelled: ((id: RawValue) => string) | null
  /** A slot's hash, and beside it the record. */
  #hashes = new Uint32Array(slotsMin)
  #recordIds = new Float64Array(slotsMin)
  #live = 0
  /** Slots that are not {@link empty}. */
  #used = 0

  constructor(records: RecordTable, labelled: ((id: RawValue) => string) | null) {
    this.#records = records
    this.#labelled = labelled
  }

  /** Slots there are, each of twelve bytes. */
  get slots(): number {
    return this.#hashes.length
  }

  /** What {@link find}, {@link add} and {@link delete} want of an `_id`. */
  hashOf(id: RawValue): number {
    const hash = keyStringHash(this.#labelled === null ? id : stringValue(this.#labelled(id)))
    return hash > deleted ? hash : hash + 2
  }

  find(id: RawValue, hash: number): StoredRecord | undefined {
    const hashes = this.#hashes
    const mask = hashes.length - 1
    for (let slot = hash & mask; hashes[slot] !== empty; slot = (slot + 1) & mask) {
      if (hashes[slot] !== hash) continue
      const recordId = this.#recordIds[slot]!
      const document = this.#records.documentOf(recordId)!
      if (this.#isSame(idOf(document), id)) return { recordId, document }
    }
    return undefined
  }

  /** Adds a record whose `_id` no other one has. */
  add(recordId: number, hash: number): void {
    if (this.#used * 8 >= this.#hashes.length * 5) this.#rebuild()
    this.#put(recordId, hash)
    this.#live++
    this.#used++
  }

  delete(recordId: number, hash: number): void {
    const mask = this.#hashes.length - 1
    let slot = hash & mask
    while (this.#recordIds[slot] !== recordId || this.#hashes[slot] === deleted) slot = (slot + 1) & mask
    this.#hashes[slot] = deleted
    this.#live--
    if (this.#hashes.length > slotsKept && this.#live * 16 < this.#hashes.length) this.#rebuild()
  }

  #isSame(a: RawValue, b: RawValue): boolean {
    if (a.isIdentical(b)) return true
    const labelled = this.#labelled ?? keyOf
    return labelled(a) === labelled(b)
  }

  #put(recordId: number, hash: number): void {
    const hashes = this.#hashes
    const mask = hashes.length - 1
    let slot = hash & mask
    while (hashes[slot] !== empty) slot = (slot + 1) & mask
    hashes[slot] = hash
    this.#recordIds[slot] = recordId
  }

  #rebuild(): void {
    const hashes = this.#hashes
    const recordIds = this.#recordIds
    let slots = slotsMin
    while (slots * 2 < this.#live * 5) slots *= 2
    this.#hashes = new Uint32Array(slots)
    this.#recordIds = new Float64Array(slots)
    this.#used = this.#live
    for (let slot = 0; slot < hashes.length; slot++) if (hashes[slot]! > deleted) this.#put(recordIds[slot]!, hashes[slot]!)
  }
}
