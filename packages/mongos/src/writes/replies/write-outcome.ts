/** Server: batched_command_response.cpp, batch_write_op.cpp. */
import { DocumentWriter, type CommandError } from '@shardlab/bson'
import { errorText, writeRetriedStmtIds, type CodeNames, type WriteKind } from '@shardlab/member'
import { codeIn, indexIn, withIndex, writeErrorEntry, type ShardWriteReply } from './shard-write-reply.js'
import { mergedConcernError, type ShardConcernError } from './write-concern-errors.js'
import { combinedError, messageIn, shownEntry, type WriteErrorStyle } from './write-error-entry.js'

export interface WriteOutcome {
  readonly failed: boolean
  /**
   * Does not add the errors of statements.
   * @param indexes positions of the shard's statements in the client's batch
   */
  add(shard: string, reply: ShardWriteReply, indexes: readonly number[]): void
  /** {@link StatementErrors} combines several errors of one statement. */
  addError(index: number, entry: Uint8Array): void
  /** The statement matched no document; no shard replied. */
  addNothing(index: number): void
  /** In the field order of the server's router. */
  write(): DocumentWriter
}

/**
 * A statement has several errors if it failed on several shards. Server: combineOpErrors,
 * write_op.cpp.
 */
export class StatementErrors {
  readonly #entries = new Map<number, Uint8Array[]>()
  readonly #combine: (index: number, error: CommandError) => Uint8Array
  readonly #style: WriteErrorStyle

  /** @param combine makes the entry for errors with different codes */
  constructor(style: WriteErrorStyle, combine: (index: number, error: CommandError) => Uint8Array) {
    this.#style = style
    this.#combine = combine
  }

  get size(): number {
    return this.#entries.size
  }

  add(index: number, entry: Uint8Array): void {
    const entries = this.#entries.get(index)
    if (entries === undefined) this.#entries.set(index, [entry])
    else entries.push(entry)
  }

  /** One entry for each statement: the first error, or a combined one if the codes differ. */
  combined(): Map<number, Uint8Array> {
    return new Map([...this.#entries].map(([index, entries]) => [index, this.#combined(index, entries)]))
  }

  #combined(index: number, entries: readonly Uint8Array[]): Uint8Array {
    const code = codeIn(entries[0]!)
    if (entries.every((entry) => codeIn(entry) === code)) return entries[0]!
    return this.#combine(index, combinedError(index, entries, this.#style))
  }
}

export class SharedOutcome {
  readonly #concernErrors: ShardConcernError[] = []
  readonly #retriedStmtIds: number[] = []
  readonly #behaviours: CodeNames

  constructor(behaviours: CodeNames) {
    this.#behaviours = behaviours
  }

  add(shard: string, { writeConcernError, retriedStmtIds }: ShardWriteReply): void {
    if (writeConcernError !== null) this.#concernErrors.push({ shard, error: writeConcernError })
    for (const id of retriedStmtIds) this.#retriedStmtIds.push(id)
  }

  /** @param reportsConcern whether the write concern applies, because something was written */
  write(writer: DocumentWriter, reportsConcern: boolean): DocumentWriter {
    if (this.#concernErrors.length > 0 && reportsConcern)
      writer.document('writeConcernError', mergedConcernError(this.#concernErrors, this.#behaviours))
    return writeRetriedStmtIds(
      writer,
      this.#retriedStmtIds.sort((a, b) => a - b),
    )
  }
}

/** For insert, update and delete. */
export class BatchOutcome implements WriteOutcome {
  readonly #kind: WriteKind
  readonly #ordered: boolean
  readonly #count: number
  #n = 0
  #nModified = 0
  readonly #upserted: Uint8Array[] = []
  readonly #style: WriteErrorStyle
  readonly #errors: StatementErrors
  readonly #shared: SharedOutcome

  constructor(kind: WriteKind, ordered: boolean, count: number, style: WriteErrorStyle) {
    this.#style = style
    this.#errors = new StatementErrors(style, writeErrorEntry)
    this.#shared = new SharedOutcome(style)
    this.#kind = kind
    this.#ordered = ordered
    this.#count = count
  }

  get failed(): boolean {
    return this.#errors.size > 0
  }

  add(shard: string, reply: ShardWriteReply, indexes: readonly number[]): void {
    this.#n += reply.n ?? 0
    this.#nModified += reply.nModified
    for (const entry of reply.upserted) this.#upserted.push(withIndex(entry, indexes[indexIn(entry)]!))
    this.#shared.add(shard, reply)
  }

  addError(index: number, entry: Uint8Array): void {
    this.#errors.add(index, entry)
  }

  addNothing(): void {}

  write(): DocumentWriter {
    const writer = new DocumentWriter(320)
    if (this.#kind === 'update') writer.int32('nModified', this.#nModified)
    writer.int32('n', this.#n)
    const byIndex = (a: Uint8Array, b: Uint8Array) => indexIn(a) - indexIn(b)
    if (this.#upserted.length > 0) writer.documents('upserted', this.#upserted.sort(byIndex))
    if (this.#errors.size > 0) writer.documents('writeErrors', this.#entries())
    return this.#shared.write(writer, this.#errors.size === 0 || (!this.#ordered && this.#errors.size < this.#count))
  }

  #entries(): Uint8Array[] {
    const entries = [...this.#errors.combined()].sort(([a], [b]) => a - b)
    return entries.map(([index, entry], position) =>
      shownEntry(index, entry, this.#style, errorText({ message: messageIn(entry) }, position)),
    )
  }
}
