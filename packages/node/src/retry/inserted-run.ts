import { findField, RawValue } from '@shardlab/bson'
import type { ExecutedStatement } from './executed-statement.js'

/**
 * Statements of one session that were inserted together. Their `_id`s are packed in one buffer,
 * because the repeated inserts that read them are rare.
 */
export class InsertedRun {
  readonly #stmtIds: readonly number[]
  readonly #types: Uint8Array
  /** End of each `_id` in the buffer. */
  readonly #ends: Uint32Array
  readonly #ids: Uint8Array
  #places: Map<number, number> | null = null

  /**
   * @param stmtIds of the documents, in their order
   * @param documents may be longer than `stmtIds`; only the `_id`s are kept
   */
  constructor(stmtIds: readonly number[], documents: readonly Uint8Array[]) {
    this.#stmtIds = stmtIds
    this.#types = new Uint8Array(stmtIds.length)
    this.#ends = new Uint32Array(stmtIds.length)
    const ids = stmtIds.map((_, i) => findField(documents[i]!, '_id')!)
    this.#ids = new Uint8Array(ids.reduce((sum, { start, end }) => sum + end - start, 0))
    let at = 0
    for (const [i, { type, bytes, start, end }] of ids.entries()) {
      for (let b = start; b < end; b++) this.#ids[at++] = bytes[b]!
      this.#types[i] = type
      this.#ends[i] = at
    }
  }

  statement(stmtId: number): ExecutedStatement {
    this.#places ??= new Map(this.#stmtIds.map((each, i) => [each, i]))
    const i = this.#places.get(stmtId)!
    const start = i === 0 ? 0 : this.#ends[i - 1]!
    return { op: 'i', insertedId: new RawValue(this.#types[i]!, this.#ids, start, this.#ends[i]!), image: null }
  }
}
