/** What the statements of a batch came to, and the reply to the client. Server: batched_command_response.cpp, batch_write_op.cpp. */
import type { WriteKind } from '@shardlab/node'
import {
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  readInt32,
  writeInt32,
  documentsOf,
  type RawValue,
} from '@shardlab/bson'

/** A reply of a shard to a batch, taken apart. Indexes are positions in that batch. */
export interface ShardWriteReply {
  /** Undefined: an unacknowledged write, of which nothing is told. */
  readonly n: number | undefined
  readonly nModified: number
  readonly upserted: readonly Uint8Array[]
  /** Documents `{ index, code, errmsg, … }`. */
  readonly writeErrors: readonly Uint8Array[]
  readonly writeConcernError: Uint8Array | null
  readonly retriedStmtIds: readonly number[]
}

const noDocuments: readonly Uint8Array[] = []
const noNumbers: readonly number[] = []

export function readShardWriteReply(body: Uint8Array): ShardWriteReply {
  let n: number | undefined
  let nModified = 0
  let upserted = noDocuments
  let writeErrors = noDocuments
  let writeConcernError: Uint8Array | null = null
  let retriedStmtIds = noNumbers
  for (const it = new FieldIterator(body); it.next();) {
    switch (it.name()) {
      case 'n':
        n = it.value().asNumber()
        break
      case 'nModified':
        nModified = it.value().asNumber()
        break
      case 'upserted':
        upserted = documentsOf(it.value())
        break
      case 'writeErrors':
        writeErrors = documentsOf(it.value())
        break
      case 'writeConcernError':
        writeConcernError = it.value().slice()
        break
      case 'retriedStmtIds':
        retriedStmtIds = elementsOf(it.value()).map((id) => id.asNumber())
        break
    }
  }
  return { n, nModified, upserted, writeErrors, writeConcernError, retriedStmtIds }
}

/** `index` of an entry of `writeErrors` or `upserted`. */
export function indexIn(entry: Uint8Array): number {
  const index = findField(entry, 'index')!
  return readInt32(entry, index.start)
}

/** `code` of an entry of `writeErrors`. */
export function codeIn(entry: Uint8Array): number {
  return findField(entry, 'code')!.asNumber()
}

/** An entry with another index. */
export function withIndex(entry: Uint8Array, index: number): Uint8Array {
  const moved = entry.slice()
  writeInt32(moved, findField(entry, 'index')!.start, index)
  return moved
}

/** An entry of `writeErrors`. */
export function writeErrorEntry(index: number, { code, extra, message }: Pick<CommandError, 'code' | 'extra' | 'message'>): Uint8Array {
  const writer = new DocumentWriter(128).int32('index', index).int32('code', code)
  if (extra !== null) writer.fields(extra)
  return writer.string('errmsg', message).finish()
}

export class WriteOutcome {
  readonly #kind: WriteKind
  #n = 0
  #nModified = 0
  readonly #upserted: Uint8Array[] = []
  readonly #errors = new Map<number, Uint8Array>()
  readonly #writeConcernErrors: Uint8Array[] = []
  readonly #retriedStmtIds: number[] = []

  constructor(kind: WriteKind) {
    this.#kind = kind
  }

  get failed(): boolean {
    return this.#errors.size > 0
  }

  /** Takes over counts, upserts and concern errors of a shard's reply; errors of statements are added one by one. */
  add(reply: ShardWriteReply, indexes: readonly number[] | null): void {
    this.#n += reply.n ?? 0
    this.#nModified += reply.nModified
    for (const entry of reply.upserted) this.#upserted.push(indexes === null ? entry : withIndex(entry, indexes[indexIn(entry)]!))
    if (reply.writeConcernError !== null) this.#writeConcernErrors.push(reply.writeConcernError)
    for (const id of reply.retriedStmtIds) this.#retriedStmtIds.push(id)
  }

  /** A statement failed; of several errors of one statement the reply tells all in one text. */
  addError(index: number, entry: Uint8Array): void {
    const earlier = this.#errors.get(index)
    if (earlier === undefined) {
      this.#errors.set(index, entry)
      return
    }
    const text = (document: Uint8Array) => findField(document, 'errmsg')!.asString()
    const prefix = codeIn(earlier) === 65 ? text(earlier) : `multiple errors for op : ${text(earlier)}`
    this.#errors.set(index, writeErrorEntry(index, new CommandError('MultipleErrorsOccurred', `${prefix} :: and :: ${text(entry)}`)))
  }

  /** The fields of the reply, in the order of the server's router. */
  write(): DocumentWriter {
    const writer = new DocumentWriter(320)
    if (this.#kind === 'update') writer.int32('nModified', this.#nModified)
    writer.int32('n', this.#n)
    const byIndex = (a: Uint8Array, b: Uint8Array) => indexIn(a) - indexIn(b)
    if (this.#upserted.length > 0) writer.documents('upserted', this.#upserted.sort(byIndex))
    if (this.#errors.size > 0) writer.documents('writeErrors', [...this.#errors.values()].sort(byIndex))
    if (this.#writeConcernErrors.length > 0) writer.document('writeConcernError', this.#mergedConcernError())
    if (this.#retriedStmtIds.length > 0) {
      writer.startArray('retriedStmtIds')
      this.#retriedStmtIds.sort((a, b) => a - b).forEach((id, i) => writer.int32(String(i), id))
      writer.end()
    }
    return writer
  }

  #mergedConcernError(): Uint8Array {
    const first = this.#writeConcernErrors[0]!
    if (this.#writeConcernErrors.length === 1) return first
    const texts = this.#writeConcernErrors.map((error) => textOf(findField(error, 'errmsg')))
    return new DocumentWriter(256)
      .int32('code', codeIn(first))
      .string('errmsg', `multiple errors reported : ${texts.join(' :: and :: ')}`)
      .finish()
  }
}

function textOf(value: RawValue | undefined): string {
  return value === undefined ? '' : value.asString()
}
