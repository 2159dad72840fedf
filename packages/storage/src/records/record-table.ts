/**
 * Records by record id: pages of a sparse array, copied on write. A snapshot costs one object, a
 * read two array accesses. Ids only grow, so order of insertion is order of ids.
 */
import { documentAt } from '@shardlab/bson'

/** One document with its record id. Immutable: an update replaces the document by another one. */
export interface StoredRecord {
  readonly recordId: number
  readonly document: Uint8Array
}

/** Small pages: a collection of few documents has one page, which is copied after each clone. */
const pageBits = 6
const pageSize = 1 << pageBits
const pageMask = pageSize - 1

interface Page {
  /** Only the table that holds this very object may write here. */
  owner: object
  live: number
  /** How many slots are offsets in the slab. */
  inSlab: number
  /**
   * The slab of all offsets in this page. Reset when no offset is left: it would live as long as
   * the page.
   */
  slab: Uint8Array
  /**
   * The document, or its offset in the slab. A view per document would take most of a large
   * collection's memory.
   */
  readonly slots: Slot[]
}

type Slot = Uint8Array | number | undefined

const noSlab = new Uint8Array(0)

export class RecordTable {
  #owner: object = {}
  /** Whether the directory array belongs to this table alone. */
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

  /** The document, possibly as another view of the same bytes each time. */
  documentOf(recordId: number): Uint8Array | undefined {
    const page = this.#pageOf(recordId)
    return page && readSlot(page, recordId & pageMask)
  }

  /**
   * The document, as the same object until it is replaced: for records that are read repeatedly.
   */
  cachedDocument(recordId: number): Uint8Array | undefined {
    const page = this.#pageOf(recordId)
    if (page === undefined) return undefined
    const slot = recordId & pageMask
    const document = readSlot(page, slot)
    // Written even if the page is shared: the record is the same.
    if (document !== page.slots[slot]) writeSlot(page, slot, document)
    return document
  }

  /** Adds the document or replaces the one with its id. */
  set(recordId: number, document: Uint8Array): void {
    const page = this.#writablePage(Math.floor(recordId / pageSize))
    this.#put(page, recordId, document)
  }

  /** As {@link set}, for the document that begins here in a shared slab. */
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
    // The last page receives the next document.
    if (page.live === 0 && Math.floor(this.#end / pageSize) !== number) {
      this.#pages[number - this.#firstPage] = undefined
      this.#dropEmptyPages()
    }
    return true
  }

  /** A table with the same records; each may be changed without affecting the other. */
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
   * Cursor over all records in ascending or descending order of ids; ascending from the id after
   * `after`. The table must not change during the scan.
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
    // Record ids exceed 32 bits: no shifts.
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
    if (number < this.#firstPage)
      throw new Error(`record id below the table's first page ${this.#firstPage}: ${number}`)
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

  /**
   * Extends the directory to this page. Drops the last page if it is empty: `delete` keeps it for
   * the next document.
   */
  #addPages(number: number): void {
    const last = this.#pages.length - 1
    if (this.#pages[last]?.live === 0) {
      this.#pages[last] = undefined
      this.#dropEmptyPages()
      if (this.#pages.length === 0) this.#firstPage = number
    }
    while (this.#firstPage + this.#pages.length <= number) this.#pages.push(undefined)
  }

  /** Keeps the directory as short as the range of live records, for collections used as queues. */
  #dropEmptyPages(): void {
    let empty = 0
    while (empty < this.#pages.length && this.#pages[empty] === undefined) empty++
    // Done rarely, because it copies the directory.
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

/** Pull cursor over a {@link RecordTable}. */
export class RecordScan {
  readonly #pages: readonly (Page | undefined)[]
  /** Number of the first page. */
  readonly #firstPage: number
  readonly #reverse: boolean
  #page: number
  #slot: number
  /** The buffer of the current document, after {@link step}. */
  bytes: Uint8Array = noSlab
  start = 0

  /** `page` and `slot`: the position before the first one to visit. */
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

  /** Id of the current record, after {@link step}. */
  get recordId(): number {
    return (this.#firstPage + this.#page) * pageSize + this.#slot
  }

  /**
   * Moves to the next record without creating a view of its document.
   * @returns whether there is one
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
