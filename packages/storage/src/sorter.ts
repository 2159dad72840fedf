/** The blocking sort: everything that passed, or with a limit only as many as are wanted. Equal keys keep their order. */
import { CommandError } from '@shardlab/bson'
import { sortKeyOf, type SortPattern } from '@shardlab/query'
import type { StoredRecord } from './record-table.js'

/** The server's `internalQueryMaxBlockingSortMemoryUsageBytes`. */
export const sortMemoryLimitBytes = 100 * 1024 * 1024

interface Row {
  readonly key: string
  readonly sequence: number
  readonly record: StoredRecord
}

export class Sorter {
  readonly #sort: SortPattern
  readonly #wanted: number
  readonly #limitBytes: number
  #rows: Row[] = []
  #sequence = 0
  #heldBytes = 0

  /** `wanted` 0 = all. `limitBytes` counts documents held; Infinity when the disk may be used. */
  constructor(sort: SortPattern, wanted: number, limitBytes: number) {
    this.#sort = sort
    this.#wanted = wanted
    this.#limitBytes = limitBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed */
  add(record: StoredRecord): void {
    const row: Row = { key: sortKeyOf(record.document, this.#sort), sequence: this.#sequence++, record }
    const rows = this.#rows
    if (this.#wanted > 0 && rows.length === this.#wanted) {
      const last = rows[0]!
      if (row.key >= last.key) return
      this.#heldBytes += record.document.length - last.record.document.length
      rows[0] = row
      this.#siftDown(0)
    } else {
      this.#heldBytes += record.document.length
      rows.push(row)
      if (rows.length === this.#wanted) for (let i = (rows.length >> 1) - 1; i >= 0; i--) this.#siftDown(i)
    }
    if (this.#heldBytes > this.#limitBytes) {
      throw new CommandError(
        'QueryExceededMemoryLimitNoDiskUseAllowed',
        `Sort exceeded memory limit of ${this.#limitBytes} bytes, but did not opt in to external sorting.`,
      )
    }
  }

  /** All rows in order; the sorter is spent. */
  finish(): StoredRecord[] {
    const rows = this.#rows.sort((a, b) => (isAfter(a, b) ? 1 : -1))
    this.#rows = []
    return rows.map(({ record }) => record)
  }

  /** The rows are a heap with the last of them on top once there are as many as wanted. */
  #siftDown(from: number): void {
    const rows = this.#rows
    const row = rows[from]!
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= rows.length) break
      if (child + 1 < rows.length && isAfter(rows[child + 1]!, rows[child]!)) child++
      if (!isAfter(rows[child]!, row)) break
      rows[at] = rows[child]!
      at = child
    }
    rows[at] = row
  }
}

function isAfter(a: Row, b: Row): boolean {
  return a.key > b.key || (a.key === b.key && a.sequence > b.sequence)
}
