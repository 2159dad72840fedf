/**
 * Which record has which `_id`: a hash table of record ids, without the keys. Whether a record is the one is asked of its document, which its
 * reader wants anyway; where no record is, as before an insert, nothing but the table is touched.
 */
import { encodeKeyString, keyStringHash, stringValue, type RawValue } from '@shardlab/bson'
import { beginsWithId, idOf } from './document-id.js'
import type { RecordTable, StoredRecord } from './record-table.js'

/** Hashes of slots that hold nothing: none yet, none any more. */
const empty = 0
const deleted = 1

/** Few: a member has many collections of one document or two. */
const slotsMin = 4
/** Tables of less grow faster. */
const fewSlots = 64
/** Of each slot: its hash, and the record id, the lower part first. Side by side: what is looked for is seldom in the processor's cache. */
const slotWords = 3
const wordSize = 2 ** 32
/** A table of more slots than this gives memory back when few of them are in use. */
const slotsKept = 1024

function keyOf(id: RawValue): string {
  return encodeKeyString([id])
}

/** What was hashed last: a document is looked for before it is changed. */
let hashedId: RawValue | null = null
let hashedTo = 0

export class IdTable {
  readonly #records: RecordTable
  /** Under a collation: what stands for an `_id`; null without one. */
  readonly #labelled: ((id: RawValue) => string) | null
  #slots = new Uint32Array(slotsMin * slotWords)
  /** How many slots there are, less one. */
  #mask = slotsMin - 1
  #live = 0
  /** Slots that are not {@link empty}. */
  #used = 0

  constructor(records: RecordTable, labelled: ((id: RawValue) => string) | null) {
    this.#records = records
    this.#labelled = labelled
  }

  /** Slots there are, each of twelve bytes. */
  get slots(): number {
    return this.#mask + 1
  }

  /** What {@link find}, {@link add} and {@link delete} want of an `_id`. */
  hashOf(id: RawValue): number {
    if (id === hashedId && this.#labelled === null) return hashedTo
    const hash = keyStringHash(this.#labelled === null ? id : stringValue(this.#labelled(id)))
    const used = hash > deleted ? hash : hash + 2
    if (this.#labelled === null) {
      hashedId = id
      hashedTo = used
    }
    return used
  }

  find(id: RawValue, hash: number): StoredRecord | undefined {
    const slots = this.#slots
    const mask = this.#mask
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const at = slot * slotWords
      const other = slots[at]!
      if (other === empty) return undefined
      if (other !== hash) continue
      const recordId = recordAt(slots, at)
      const document = this.#records.held(recordId)!
      if (beginsWithId(document, id) || this.#isSame(idOf(document), id)) return { recordId, document }
    }
  }

  /** Adds a record whose `_id` no other one has. */
  add(recordId: number, hash: number): void {
    if (this.#used * 8 >= this.slots * 5) this.#rebuild()
    this.#put(recordId, hash)
    this.#live++
    this.#used++
  }

  delete(recordId: number, hash: number): void {
    const slots = this.#slots
    const mask = this.#mask
    let slot = hash & mask
    while (slots[slot * slotWords] !== hash || recordAt(slots, slot * slotWords) !== recordId) slot = (slot + 1) & mask
    this.#live--
    if (slots[((slot + 1) & mask) * slotWords] === empty) this.#endRun(slot)
    else slots[slot * slotWords] = deleted
    if (mask >= slotsKept && this.#live * 16 < this.slots) this.#rebuild()
  }

  #isSame(a: RawValue, b: RawValue): boolean {
    if (a.isIdentical(b)) return true
    const labelled = this.#labelled ?? keyOf
    return labelled(a) === labelled(b)
  }

  /** Nothing is looked for behind this slot, nor behind those before it that hold nothing any more. */
  #endRun(last: number): void {
    const slots = this.#slots
    let slot = last
    do {
      slots[slot * slotWords] = empty
      this.#used--
      slot = (slot - 1) & this.#mask
    } while (slots[slot * slotWords] === deleted)
  }

  #put(recordId: number, hash: number): void {
    const slots = this.#slots
    const mask = this.#mask
    let slot = hash & mask
    while (slots[slot * slotWords] !== empty) slot = (slot + 1) & mask
    const at = slot * slotWords
    slots[at] = hash
    slots[at + 1] = recordId % wordSize
    slots[at + 2] = Math.floor(recordId / wordSize)
  }

  #rebuild(): void {
    const before = this.#slots
    let slots = slotsMin
    while (slots * 2 < this.#live * 5) slots *= slots < fewSlots ? 4 : 2
    this.#slots = new Uint32Array(slots * slotWords)
    this.#mask = slots - 1
    this.#used = this.#live
    for (let at = 0; at < before.length; at += slotWords)
      if (before[at]! > deleted) this.#put(recordAt(before, at), before[at]!)
  }
}

/** The record in the slot that begins here. */
function recordAt(slots: Uint32Array, at: number): number {
  return slots[at + 2]! * wordSize + slots[at + 1]!
}
