/** How $out and $merge write: by ordinary commands of the member that runs the pipeline, be it a node or a router. */
import { CommandError, documentsOf, DocumentWriter, fieldsOf, findField } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'

/** The results of a pipeline, one by one; null at the end. */
export interface PipelineResults {
  next(): Uint8Array | null | Promise<Uint8Array | null>
}

export interface WriteSink {
  /** Runs a command; its reply, `ok` or not. */
  run(body: Uint8Array, sequences: readonly (readonly [string, Uint8Array[]])[]): Promise<Uint8Array>
  /** Creates a collection that is dropped when the member with it starts again. @throws CommandError what `create` is refused with */
  createTemporary(db: string, name: string, options: Uint8Array): Promise<void>
  /** Fields of the shard key; null: the collection is not sharded. */
  shardKeyOf(db: string, collection: string): Promise<readonly string[] | null>
  /** A UUID as text, for the name of a temporary collection. */
  newUuid(): string
  readonly evaluation: EvaluationContext
  readonly bypassDocumentValidation: boolean
  /** The client's; undefined: none. */
  readonly writeConcern: Uint8Array | undefined
  /** The collation of the pipeline, with all its fields; null: the simple one. */
  readonly collation: Uint8Array | null
  /** Does a router run the pipeline? Some of the server's codes depend on it. */
  readonly isRouter: boolean
}

/** A command that is being written, up to its `$db`. */
export function command(name: string, target: string): DocumentWriter {
  return new DocumentWriter(256).string(name, target)
}

/** Runs a command that must succeed. @throws CommandError the command's error, the first write error, the write concern's */
export async function runOnSink(
  sink: WriteSink,
  db: string,
  writer: DocumentWriter,
  sequences: readonly (readonly [string, Uint8Array[]])[] = [],
): Promise<Uint8Array> {
  const reply = await sink.run(writer.string('$db', db).finish(), sequences)
  if (findField(reply, 'ok')?.isTruthy() !== true) throw errorIn(reply)
  const writeErrors = findField(reply, 'writeErrors')
  const first = writeErrors === undefined ? undefined : documentsOf(writeErrors)[0]
  if (first !== undefined) throw errorIn(first)
  const writeConcernError = findField(reply, 'writeConcernError')
  if (writeConcernError !== undefined) throw errorIn(writeConcernError.slice())
  return reply
}

const ownFields = new Set(['ok', 'code', 'codeName', 'errmsg', 'index', '$clusterTime', 'operationTime', 'errorLabels'])

function errorIn(document: Uint8Array): CommandError {
  const code = findField(document, 'code')?.asNumber() ?? 8
  const message = findField(document, 'errmsg')
  const extra = new DocumentWriter(64)
  for (const [name, value] of fieldsOf(document)) if (!ownFields.has(name)) extra.value(name, value)
  return new CommandError(code, message?.asString() ?? '', { extra: extra.finish() })
}

/** The only batch of a list command's cursor. */
export function firstBatchOf(reply: Uint8Array): Uint8Array[] {
  const cursor = findField(reply, 'cursor')!
  return documentsOf(findField(cursor.bytes, 'firstBatch', cursor.start)!)
}

/** Documents collected for one write command. */
export class WriteBatch<T> {
  static readonly #countMax = 1000
  static readonly #bytesMax = 16 * 1024 * 1024
  #items: T[] = []
  #bytes = 0

  /** Would it become too large with so many bytes more? */
  isFullFor(bytes: number): boolean {
    return (
      this.#items.length > 0 &&
      (this.#items.length >= WriteBatch.#countMax || this.#bytes + bytes > WriteBatch.#bytesMax)
    )
  }

  add(item: T, bytes: number): void {
    this.#items.push(item)
    this.#bytes += bytes
  }

  take(): T[] {
    const items = this.#items
    this.#items = []
    this.#bytes = 0
    return items
  }
}
