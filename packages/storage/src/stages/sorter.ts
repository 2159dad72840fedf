/**
 * A blocking and stable sort of all rows, or of the first rows if there is a limit. No step is
 * long: see `RunSorter`.
 */
import { CommandError } from '@shardlab/bson'
import { RunSorter, type SortKey, type SortOrder } from '@shardlab/query'
import type { Row } from './stage.js'

/** The server's `internalQueryMaxBlockingSortMemoryUsageBytes`. */
export const sortMemoryLimitBytes = 100 * 1024 * 1024

/** Rows in one step of {@link Sorter.settle}. */
const settledInStep = 1024

interface SortedRow {
  readonly key: SortKey
  readonly sequence: number
  readonly row: Row
}

export class Sorter {
  readonly #order: SortOrder
  readonly #wanted: number
  readonly #limitBytes: number
  readonly #sorted: RunSorter<SortedRow>
  /** Only with a limit: a heap of the first rows so far. */
  #rows: SortedRow[] = []
  #sequence = 0
  #heldBytes = 0

  /**
   * @param wanted rows to keep; 0: all
   * @param limitBytes of kept documents; Infinity if the disk may be used
   */
  constructor(order: SortOrder, wanted: number, limitBytes: number) {
    this.#order = order
    this.#wanted = wanted
    this.#limitBytes = limitBytes
    this.#sorted = new RunSorter((a, b) => order.compare(a.key, b.key) || a.sequence - b.sequence)
  }

  /** @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed */
  add(row: Row): void {
    const entry: SortedRow = { key: this.#order.keyOf(row.document), sequence: this.#sequence++, row }
    const rows = this.#rows
    if (this.#wanted === 0) {
      this.#sorted.add(entry)
      this.#heldBytes += row.document.length
    } else if (rows.length === this.#wanted) {
      const last = rows[0]!
      if (this.#order.compare(entry.key, last.key) >= 0) return
      this.#heldBytes += row.document.length - last.row.document.length
      rows[0] = entry
      this.#siftDown(0)
    } else {
      this.#heldBytes += row.document.length
      rows.push(entry)
      if (rows.length === this.#wanted) for (let i = (rows.length >> 1) - 1; i >= 0; i--) this.#siftDown(i)
    }
    if (this.#heldBytes > this.#limitBytes) {
      throw new CommandError(
        'QueryExceededMemoryLimitNoDiskUseAllowed',
        `Sort exceeded memory limit of ${this.#limitBytes} bytes, but did not opt in to external sorting.`,
      )
    }
  }

  /**
   * One step of the work after the last row.
   * @returns false: the rows can be read
   */
  settle(): boolean {
    const rows = this.#rows
    for (let i = 0; i < settledInStep && rows.length > 0; i++) this.#sorted.add(rows.pop()!)
    return rows.length > 0
  }

  /** The next row in order; undefined: the end. */
  next(): Row | undefined {
    return this.#sorted.next()?.row
  }

  /**
   * Restores the heap, whose top is the last row in order. Used once the sorter keeps `wanted`
   * rows.
   */
  #siftDown(from: number): void {
    const rows = this.#rows
    const row = rows[from]!
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= rows.length) break
      if (child + 1 < rows.length && this.#isAfter(rows[child + 1]!, rows[child]!)) child++
      if (!this.#isAfter(rows[child]!, row)) break
      rows[at] = rows[child]!
      at = child
    }
    rows[at] = row
  }

  #isAfter(a: SortedRow, b: SortedRow): boolean {
    const order = this.#order.compare(a.key, b.key)
    return order > 0 || (order === 0 && a.sequence > b.sequence)
  }
}
