import { findField, RawValue, readInt32, writeInt32 } from '@shardlab/bson'
import type { ExecutedStatement } from './executed-statement.js'

/**
 * Statements of one session that were inserted together. Packed in one buffer, also for checkpoints
 * and other members, because the repeated inserts that read it are rare: for each statement its id,
 * the end of its document's `_id` among the packed ones, and the `_id`'s type; then the `_id`s.
 */
export class InsertedRun {
  readonly bytes: Uint8Array
  readonly count: number
  #places: Map<number, number> | null = null

  /** @param bytes of another run; never changed */
  constructor(bytes: Uint8Array, count: number) {
    this.bytes = bytes
    this.count = count
  }

  /**
   * @param stmtIds of the documents, in their order
   * @param documents may be longer than `stmtIds`; only the `_id`s are kept
   */
  static of(stmtIds: readonly number[], documents: readonly Uint8Array[]): InsertedRun {
    const count = stmtIds.length
    let idBytes = 0
    const ids = stmtIds.map((_, i) => {
      const id = findField(documents[i]!, '_id')!
      idBytes += id.end - id.start
      return id
    })
    const bytes = new Uint8Array(count * statementBytes + idBytes)
    let at = count * statementBytes
    for (const [i, id] of ids.entries()) {
      for (let b = id.start; b < id.end; b++) bytes[at++] = id.bytes[b]!
      const head = i * statementBytes
      writeInt32(bytes, head, stmtIds[i]!)
      writeInt32(bytes, head + 4, at)
      bytes[head + 8] = id.type
    }
    return new InsertedRun(bytes, count)
  }

  *stmtIds(): Generator<number, void, void> {
    for (let i = 0; i < this.count; i++) yield readInt32(this.bytes, i * statementBytes)
  }

  statement(stmtId: number): ExecutedStatement {
    this.#places ??= new Map([...this.stmtIds()].map((each, i) => [each, i]))
    const i = this.#places.get(stmtId)!
    const head = i * statementBytes
    const start = i === 0 ? this.count * statementBytes : readInt32(this.bytes, head - statementBytes + 4)
    const end = readInt32(this.bytes, head + 4)
    return { op: 'i', insertedId: new RawValue(this.bytes[head + 8]!, this.bytes, start, end), image: null }
  }
}

const statementBytes = 9
