/**
 * Records by record id: pages of a sparse array, copied on write. A snapshot costs one object, a
 * read two array accesses. Ids only grow, so order of insertion is order of ids.
 */
import { documentAt } from '@shardlab/bson'

/** Immutable: an update replaces it. */
export interface StoredRecord {
  readonly recordId: number
  readonly document: Uint8Array
}

/** Small, because a collection of few documents has one page, which is copied after each clone. */
const pageBits = 6
const pageSize = 1 << pageBits
const pageMask = pageSize - 1

interface Page {
  /** Only the table that holds this very object may write to the page. */
  owner: object
  live: number
  /** How many slots are offsets in the slab. */
  inSlab: number
  /**
   * Contains all offsets of this page. Reset when no offset is left, so that the page does not keep
   * the slab alive.
   */
  slab: Uint8Array
  /**
   * The document, or its offset in the slab. One view per document would take most of a large
   * collection's memory.
   */
  readonly slots: Slot[]
}

type Slot = Uint8Array | number | undefined

const noSlab = new Uint8Array(0)

/** Records of a collection, one by one. */
export interface DocumentScan {
  next(): StoredRecord | null
  /**
   * Advances without creating a view of the document.
   * @returns false: the end
   */
  step(): boolean
  /** After {@link step}: the record, and its document from `start` in `bytes`. */
  readonly recordId: number
  readonly bytes: Uint8Array
  readonly start: number
  [Symbol.iterator](): Generator<StoredRecord, void, void>
}

export class RecordTable {
  #owner: object = {}
  #ownsDirectory = true
  #pages: (Page | undefined)[] = []
  /** Number of the page at `#pages[0]`: empty pages at the front are dropped. */
  #firstPage = 0
  #count = 0
  #end = 0

  /** One past the highest id ever set. */
  get end(): number {
    return this.#end
  }

  get count(): number {
    return this.#count
  }

  get(recordId: number): StoredRecord | undefined {
    const document = this.documentOf(recordId)
    return document && { recordId, document }
  }

  /** Not always the same view. */
  documentOf(recordId: number): Uint8Array | undefined {
    const page = this.#pageOf(recordId)
    return page && readSlot(page, recordId & pageMask)
  }

  /** As the same object until it is replaced: for records that are read repeatedly. */
  cachedDocument(recordId: number): Uint8Array | undefined {
    const page = this.#pageOf(recordId)
    if (page === undefined) return undefined
    const slot = recordId & pageMask
    const document = readSlot(page, slot)
    // Write even to a shared page, because the record does not change.
    if (document !== page.slots[slot]) writeSlot(page, slot, document)
    return document
  }

  set(recordId: number, document: Uint8Array): void {
    const page = this.#writablePage(Math.floor(recordId / pageSize))
    this.#put(page, recordId, document)
  }

  /**
   * As {@link set}.
   * @param start of the document in `slab`, which other documents share
   */
  setInSlab(recordId: number, slab: Uint8Array, start: number): void {
    const page = this.#writablePage(Math.floor(recordId / pageSize))
    if (page.inSlab === 0) page.slab = slab
    this.#put(page, recordId, page.slab === slab ? start : documentAt(slab, start))
  }

  /**
   * Empties the table.
   * @returns a table with the previous contents
   */
  takeAll(): RecordTable {
    const taken = this.clone()
    this.#pages = []
    this.#ownsDirectory = true
    this.#count = 0
    return taken
  }

  delete(recordId: number): boolean {
    if (this.#pageOf(recordId)?.slots[recordId & pageMask] === undefined) return false
    const number = Math.floor(recordId / pageSize)
    const page = this.#writablePage(number)
    writeSlot(page, recordId & pageMask, undefined)
    page.live--
    this.#count--
    // Keep the last page: it receives the next document.
    if (page.live === 0 && Math.floor(this.#end / pageSize) !== number) {
      this.#pages[number - this.#firstPage] = undefined
      this.#dropEmptyPages()
    }
    return true
  }

  /** Each table may be changed without affecting the other. */
  clone(): RecordTable {
    const copy = new RecordTable()
    copy.#pages = this.#pages
    copy.#firstPage = this.#firstPage
    copy.#count = this.#count
    copy.#end = this.#end
    copy.#ownsDirectory = false
    this.#ownsDirectory = false
    this.#owner = {}
    return copy
  }

  /**
   * In order of ids, from the id after `after` if ascending. The table must not change during the
   * scan.
   */
  scan(reverse = false, after = -1): RecordScan {
    if (after < this.#firstPage * pageSize) return new RecordScan(this.#pages, this.#firstPage, reverse)
    return new RecordScan(
      this.#pages,
      this.#firstPage,
      reverse,
      Math.floor(after / pageSize) - this.#firstPage,
      after & pageMask,
    )
  }

  #pageOf(recordId: number): Page | undefined {
    // No shifts: record ids exceed 32 bits.
    const index = Math.floor(recordId / pageSize) - this.#firstPage
    return index < 0 ? undefined : this.#pages[index]
  }

  #put(page: Page, recordId: number, document: Uint8Array | number): void {
    const slot = recordId & pageMask
    if (recordId >= this.#end) this.#end = recordId + 1
    if (page.slots[slot] === undefined) {
      page.live++
      this.#count++
    }
    writeSlot(page, slot, document)
  }

  #writablePage(number: number): Page {
    if (!this.#ownsDirectory) {
      this.#pages = this.#pages.slice()
      this.#ownsDirectory = true
    }
    if (this.#pages.length === 0) this.#firstPage = number
    if (number < this.#firstPage) this.#addFirstPages(number)
    if (number >= this.#firstPage + this.#pages.length) this.#addPages(number)
    const index = number - this.#firstPage
    const page = this.#pages[index]
    if (page !== undefined && page.owner === this.#owner) return page
    const writable: Page =
      page === undefined
        ? { owner: this.#owner, live: 0, inSlab: 0, slab: noSlab, slots: new Array<Slot>(pageSize).fill(undefined) }
        : { owner: this.#owner, live: page.live, inSlab: page.inSlab, slab: page.slab, slots: page.slots.slice() }
    this.#pages[index] = writable
    return writable
  }

  /** Drops the last page if it is empty: `delete` kept it for the next document. */
  #addPages(number: number): void {
    const last = this.#pages.length - 1
    if (this.#pages[last]?.live === 0) {
      this.#pages[last] = undefined
      this.#dropEmptyPages()
      if (this.#pages.length === 0) this.#firstPage = number
    }
    while (this.#firstPage + this.#pages.length <= number) this.#pages.push(undefined)
  }

  /** For a record that was deleted, and is stored again. */
  #addFirstPages(number: number): void {
    const added = new Array<undefined>(this.#firstPage - number).fill(undefined)
    this.#pages = [...added, ...this.#pages]
    this.#firstPage = number
  }

  /** Keeps the directory as short as the range of live records, for collections used as queues. */
  #dropEmptyPages(): void {
    let empty = 0
    while (empty < this.#pages.length && this.#pages[empty] === undefined) empty++
    // Seldom, because this copies the directory.
    if (empty < 64 && empty < this.#pages.length) return
    this.#firstPage += empty
    this.#pages = this.#pages.slice(empty)
  }
}

function writeSlot(page: Page, slot: number, document: Slot): void {
  if (typeof page.slots[slot] === 'number') page.inSlab--
  if (typeof document === 'number') page.inSlab++
  else if (page.inSlab === 0) page.slab = noSlab
  page.slots[slot] = document
}

function readSlot({ slab, slots }: Page, slot: number): Uint8Array | undefined {
  const document = slots[slot]
  return typeof document === 'number' ? documentAt(slab, document) : document
}

export class RecordScan implements DocumentScan {
  readonly #pages: readonly (Page | undefined)[]
  readonly #firstPage: number
  readonly #reverse: boolean
  #page: number
  #slot: number
  /** The buffer that contains the current document, after {@link step}. */
  bytes: Uint8Array = noSlab
  start = 0

  /** @param page with `slot`: the position before the first record to visit */
  constructor(
    pages: readonly (Page | undefined)[],
    firstPage: number,
    reverse: boolean,
    page = reverse ? pages.length - 1 : 0,
    slot = reverse ? pageSize : -1,
  ) {
    this.#pages = pages
    this.#firstPage = firstPage
    this.#reverse = reverse
    this.#page = page
    this.#slot = slot
  }

  *[Symbol.iterator](): Generator<StoredRecord, void, void> {
    for (let record = this.next(); record !== null; record = this.next()) yield record
  }

  next(): StoredRecord | null {
    if (!this.step()) return null
    return { recordId: this.recordId, document: readSlot(this.#pages[this.#page]!, this.#slot)! }
  }

  /** After {@link step}. */
  get recordId(): number {
    return (this.#firstPage + this.#page) * pageSize + this.#slot
  }

  /**
   * Advances without creating a view of the document.
   * @returns false: the end
   */
  step(): boolean {
    for (;;) {
      if (this.#page < 0 || this.#page >= this.#pages.length) return false
      const page = this.#pages[this.#page]
      if (page !== undefined) {
        if (this.#reverse) {
          while (--this.#slot >= 0) if (this.#select(page)) return true
        } else {
          while (++this.#slot < pageSize) if (this.#select(page)) return true
        }
      }
      this.#page += this.#reverse ? -1 : 1
      this.#slot = this.#reverse ? pageSize : -1
    }
  }

  #select({ slab, slots }: Page): boolean {
    const document = slots[this.#slot]
    if (document === undefined) return false
    const isPlace = typeof document === 'number'
    this.bytes = isPlace ? slab : document
    this.start = isPlace ? document : 0
    return true
  }
}
