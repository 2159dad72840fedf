/**
 * $merge: each result updates the document of the target that has the same key, or is inserted.
 * Server: merge_processor.cpp.
 */
import { CommandError, DocumentWriter, findField, nullValue, RawValue, BsonType } from '@shardlab/bson'
import {
  compileExpression,
  newestLanguage,
  parseMerge,
  type DocumentExpression,
  type EvaluationContext,
  type MergeSpecification,
} from '@shardlab/query'
import { mergeKeyOf, type MergeKey } from './merge-target.js'
import { command, inErrorContext, runOnSink, WriteBatch, type PipelineResults, type WriteSink } from './write-sink.js'

/** One update statement, or one document to insert. */
interface Write {
  readonly statement: Uint8Array
}

/**
 * @param db database of the pipeline
 * @throws CommandError 51183, 51190, 51132, 51185 for keys, 13113 MergeStageNoMatchingDocument,
 *   11000 DuplicateKey, 66 ImmutableField, and errors of the write commands. Documents written
 *   before the error stay.
 */
export async function writeMerge(
  argument: RawValue,
  db: string,
  results: PipelineResults,
  sink: WriteSink,
): Promise<void> {
  const merge = parseMerge(argument, db)
  const key = await mergeKeyOf(merge, sink)
  const inserts = merge.whenMatched === 'fail'
  const variables = variablesOf(merge, sink.evaluation)
  const batch = new WriteBatch<Write>()
  const flush = () => (inserts ? insertBatch(merge, key, batch.take(), sink) : updateBatch(merge, batch.take(), sink))
  const write = async (result: Uint8Array) => {
    const document = withId(result, key, sink.evaluation)
    const selector = selectorOf(document, key, sink.evaluation)
    const statement = inserts ? document : statementOf(merge, selector, document, variables)
    if (batch.isFullFor(statement.length)) await flush()
    batch.add({ statement }, statement.length)
  }
  for (let result: Uint8Array | null; (result = await results.next()) !== null;) {
    const document = result
    await inErrorContext(sink, () => write(document))
  }
  await inErrorContext(sink, flush)
}

/** Only where `_id` identifies documents. */
function withId(document: Uint8Array, { fields }: MergeKey, evaluation: EvaluationContext): Uint8Array {
  if (!fields.includes('_id') || findField(document, '_id') !== undefined || evaluation.newObjectId === undefined)
    return document
  return new DocumentWriter(document.length + 24).fields(document).objectId('_id', evaluation.newObjectId()).finish()
}

/**
 * Dotted fields with their values.
 * @throws CommandError 51185 for arrays, 51132 for a missing value that must be present
 */
function selectorOf(
  document: Uint8Array,
  { fields, allowsNullish }: MergeKey,
  { language = newestLanguage }: EvaluationContext,
): Uint8Array {
  const isOld = !language.mergeMatchesNullish
  const writer = new DocumentWriter(128)
  for (const field of fields) {
    const value = valueOf(document, field)
    if (value?.type === BsonType.array)
      throw new CommandError(51185, isOld ? oldKeyError : `$merge write error: 'on' field '${field}' is an array`)
    const isNullish = value === undefined || value.isNullish()
    if (isNullish && !allowsNullish)
      throw new CommandError(
        51132,
        isOld
          ? oldKeyError
          : `$merge write error: 'on' field '${field}' cannot be missing, null or undefined if supporting index is sparse`,
      )
    writer.value(field, isNullish ? nullValue : value)
  }
  return writer.finish()
}

const oldKeyError = "$merge write error: 'on' field cannot be missing, null, undefined or an array"

/** The path ends at an array. */
function valueOf(document: Uint8Array, field: string): RawValue | undefined {
  let value: RawValue | undefined = new RawValue(BsonType.object, document, 0, document.length)
  for (const name of field.split('.')) {
    if (value?.type !== BsonType.object) return value?.type === BsonType.array ? value : undefined
    value = findField(value.bytes, name, value.start)
  }
  return value
}

interface Variable {
  readonly name: string
  readonly expression: DocumentExpression | null
}

/** The variables of the pipeline of `whenMatched`; an expression of null is the new document. */
function variablesOf(
  { whenMatched, whenNotMatched, variables }: MergeSpecification,
  evaluation: EvaluationContext,
): readonly Variable[] {
  if (typeof whenMatched === 'string') return []
  const given: Variable[] = (variables ?? []).map(({ name, expression }) => ({
    name,
    expression: name === 'new' ? null : compileExpression(expression, evaluation),
  }))
  const needsNew = variables === null || whenNotMatched === 'insert'
  return needsNew && !given.some(({ name }) => name === 'new') ? [...given, { name: 'new', expression: null }] : given
}

function statementOf(
  merge: MergeSpecification,
  selector: Uint8Array,
  document: Uint8Array,
  variables: readonly Variable[],
): Uint8Array {
  const { whenMatched, whenNotMatched } = merge
  const writer = new DocumentWriter(selector.length + document.length + 128).document('q', selector)
  if (typeof whenMatched !== 'string') {
    writer.documents('u', whenMatched).startDocument('c')
    for (const { name, expression } of variables) {
      if (expression === null) writer.document(name, document)
      else {
        const value = expression.evaluateOn(document)
        if (value !== undefined) writer.value(name, value)
      }
    }
    writer.end()
  } else if (whenMatched === 'replace') writer.document('u', document)
  else
    writer
      .startDocument('u')
      .document(whenMatched === 'merge' ? '$set' : '$setOnInsert', document)
      .end()
  writer.bool('multi', false).bool('upsert', whenNotMatched === 'insert')
  if (typeof whenMatched !== 'string' && whenNotMatched === 'insert') writer.bool('upsertSupplied', true)
  return writer.finish()
}

async function updateBatch(
  { db, collection, whenNotMatched }: MergeSpecification,
  writes: readonly Write[],
  sink: WriteSink,
): Promise<void> {
  if (writes.length === 0) return
  const reply = await inContext(
    runOnSink(sink, db, withOptions(command('update', collection).bool('ordered', false), sink), [
      ['updates', writes.map(({ statement }) => statement)],
    ]),
    () => '$merge failed due to a DuplicateKey error',
  )
  if (whenNotMatched === 'fail' && findField(reply, 'n')!.asNumber() !== writes.length)
    throw new CommandError(
      'MergeStageNoMatchingDocument',
      '$merge could not find a matching document in the target collection for at least one document in the source collection',
    )
}

async function insertBatch(
  { db, collection }: MergeSpecification,
  { fields }: MergeKey,
  writes: readonly Write[],
  sink: WriteSink,
): Promise<void> {
  if (writes.length === 0) return
  await inContext(
    runOnSink(sink, db, withOptions(command('insert', collection), sink), [
      ['documents', writes.map(({ statement }) => statement)],
    ]),
    (error) => {
      const pattern = error.extra === null ? undefined : findField(error.extra, 'keyPattern')
      const isKey =
        pattern !== undefined && fields.every((field) => findField(pattern.bytes, field, pattern.start) !== undefined)
      return isKey
        ? "$merge with whenMatched: fail found an existing document with the same values for the 'on' fields"
        : '$merge failed due to a DuplicateKey error'
    },
  )
}

function withOptions(writer: DocumentWriter, { bypassDocumentValidation, writeConcern }: WriteSink): DocumentWriter {
  if (bypassDocumentValidation) writer.bool('bypassDocumentValidation', true)
  return writeConcern === undefined ? writer : writer.document('writeConcern', writeConcern)
}

async function inContext(
  writing: Promise<Uint8Array>,
  duplicateKey: (error: CommandError) => string,
): Promise<Uint8Array> {
  try {
    return await writing
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const context =
      error.codeName === 'DuplicateKey'
        ? duplicateKey(error)
        : error.codeName === 'ImmutableField'
          ? '$merge failed to update the matching document, did you attempt to modify the _id or the shard key?'
          : null
    if (context === null) throw error
    throw new CommandError(error.code, `${context} :: caused by :: ${error.message}`, { extra: error.extra })
  }
}
