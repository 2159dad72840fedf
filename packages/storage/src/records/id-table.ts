/**
 * Maps `_id` values to record ids: a hash table of hashes and record ids, without keys. Equality is
 * checked on the record's document, which the caller needs anyway. A lookup without a match, as
 * before an insert, reads only the table.
 */
import { encodeKeyString, keyStringHash, stringValue, type RawValue } from '@shardlab/bson'
import { beginsWithId, idOf } from './document-id.js'
import type { RecordTable, StoredRecord } from './record-table.js'

const empty = 0
const tombstone = 1

/** Small at first: a member has many collections of one or two documents. */
const slotsMin = 4
/** Smaller tables grow by a factor of 4, larger ones by 2. */
const smallTableSlots = 64
/**
 * In words: the hash, then the record id, lower word first. One array holds both, because a
 * looked-up slot is seldom in the processor's cache.
 */
const slotWords = 3
const wordSize = 2 ** 32
const shrinkAboveSlots = 1024

function keyOf(id: RawValue): string {
  return encodeKeyString([id])
}

/** The last hash, because a document is looked up before it is changed. */
let lastHashedId: RawValue | null = null
let lastHash = 0

export class IdTable {
  readonly #records: RecordTable
  readonly #keyUnderCollation: ((id: RawValue) => string) | null
  #slots = new Uint32Array(slotsMin * slotWords)
  #mask = slotsMin - 1
  #live = 0
  #used = 0

  constructor(records: RecordTable, labelled: ((id: RawValue) => string) | null) {
    this.#records = records
    this.#keyUnderCollation = labelled
  }

  get slots(): number {
    return this.#mask + 1
  }

  hashOf(id: RawValue): number {
    if (id === lastHashedId && this.#keyUnderCollation === null) return lastHash
    const hash = keyStringHash(this.#keyUnderCollation === null ? id : stringValue(this.#keyUnderCollation(id)))
    const used = hash > tombstone ? hash : hash + 2
    if (this.#keyUnderCollation === null) {
      lastHashedId = id
      lastHash = used
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
      const document = this.#records.cachedDocument(recordId)!
      if (beginsWithId(document, id) || this.#isSame(idOf(document), id)) return { recordId, document }
    }
  }

  /** The table must not contain the `_id`. */
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
    if (slots[((slot + 1) & mask) * slotWords] === empty) this.#clearTombstones(slot)
    else slots[slot * slotWords] = tombstone
    if (mask >= shrinkAboveSlots && this.#live * 16 < this.slots) this.#rebuild()
  }

  #isSame(a: RawValue, b: RawValue): boolean {
    if (a.isIdentical(b)) return true
    const labelled = this.#keyUnderCollation ?? keyOf
    return labelled(a) === labelled(b)
  }

  /** Empties this slot, which ends a probe sequence, and the tombstones before it. */
  #clearTombstones(last: number): void {
    const slots = this.#slots
    let slot = last
    do {
      slots[slot * slotWords] = empty
      this.#used--
      slot = (slot - 1) & this.#mask
    } while (slots[slot * slotWords] === tombstone)
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
    while (slots * 2 < this.#live * 5) slots *= slots < smallTableSlots ? 4 : 2
    this.#slots = new Uint32Array(slots * slotWords)
    this.#mask = slots - 1
    this.#used = this.#live
    for (let at = 0; at < before.length; at += slotWords)
      if (before[at]! > tombstone) this.#put(recordAt(before, at), before[at]!)
  }
}

function recordAt(slots: Uint32Array, at: number): number {
  return slots[at + 2]! * wordSize + slots[at + 1]!
}
