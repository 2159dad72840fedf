/**
 * $out and $merge write by ordinary commands of the member that runs the pipeline, a node or a
 * router.
 */
import { CommandError, documentsOf, DocumentWriter, fieldsOf, findField, textOf } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'
import { withContext } from '../../replies/with-context.js'

export interface PipelineResults {
  next(): Uint8Array | null | Promise<Uint8Array | null>
}

export interface WriteSink {
  /** Returns the reply, which may be an error. */
  run(body: Uint8Array, sequences: readonly (readonly [string, Uint8Array[]])[]): Promise<Uint8Array>
  /**
   * Creates a collection that its member drops at the next start.
   * @throws CommandError the errors of `create`
   */
  createTemporary(db: string, name: string, options: Uint8Array): Promise<void>
  /** null: the collection is not sharded */
  shardKeyOf(db: string, collection: string): Promise<readonly string[] | null>
  /** As text, for the name of a temporary collection. */
  newUuid(): string
  readonly evaluation: EvaluationContext
  readonly bypassDocumentValidation: boolean
  /** Of the client; undefined: none. */
  readonly writeConcern: Uint8Array | undefined
  /** With all fields; null: the simple collation */
  readonly collation: Uint8Array | null
  /** For errors while the results are written. Null: they have none, or the caller adds it. */
  readonly errorContext: string | null
  /** Some error codes of the server depend on it. */
  readonly isRouter: boolean
}

/** @throws CommandError errors of `work`, in the sink's context */
export async function inErrorContext<T>({ errorContext }: WriteSink, work: () => Promise<T>): Promise<T> {
  if (errorContext === null) return work()
  try {
    return await work()
  } catch (error) {
    throw withContext(error, errorContext)
  }
}

export function command(name: string, target: string): DocumentWriter {
  return new DocumentWriter(256).string(name, target)
}

/**
 * @throws CommandError the error of the command, the first write error, or the write concern error
 */
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
  const message = textOf(findField(document, 'errmsg'))
  const extra = new DocumentWriter(64)
  for (const [name, value] of fieldsOf(document)) if (!ownFields.has(name)) extra.value(name, value)
  return new CommandError(code, message, { extra: extra.finish() })
}

/** For list commands, whose cursors have a single batch. */
export function firstBatchOf(reply: Uint8Array): Uint8Array[] {
  const cursor = findField(reply, 'cursor')!
  return documentsOf(findField(cursor.bytes, 'firstBatch', cursor.start)!)
}

export class WriteBatch<T> {
  static readonly #countMax = 1000
  static readonly #bytesMax = 16 * 1024 * 1024
  #items: T[] = []
  #bytes = 0

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
