/**
 * $out: the results go into a temporary collection with the target's options and indexes, which is
 * then renamed to the target and is no longer temporary. Server: `DocumentSourceOut::initialize`,
 * `finalize` and its destructor.
 */
import { CommandError, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { formatDocument, newestLanguage, parseOut } from '@shardlab/query'
import {
  command,
  firstBatchOf,
  inErrorContext,
  runOnSink,
  WriteBatch,
  type PipelineResults,
  type WriteSink,
} from './write-sink.js'

interface Target {
  readonly db: string
  readonly collection: string
}

/** To detect that they change. */
interface TargetState {
  readonly options: Uint8Array
  readonly indexes: readonly Uint8Array[]
}

/**
 * @param db database of the pipeline
 * @throws CommandError 28769 NamespaceCannotBeSharded, 17152 for a capped target, 166 for a view,
 *   125 CommandFailed when the target changed during the aggregation, and errors of the write
 *   commands. The target is then unchanged.
 */
export async function writeOut(
  argument: RawValue,
  db: string,
  results: PipelineResults,
  sink: WriteSink,
): Promise<void> {
  const target = parseOut(argument, db)
  await checkUnsharded(target, sink)
  const before = await stateOf(target, sink)
  const temporary = `tmp.agg_out.${sink.newUuid()}`
  await sink.createTemporary(target.db, temporary, before.options)
  try {
    await inErrorContext(sink, () => copyIndexes(target.db, temporary, before.indexes, sink))
    await insertAll(target.db, temporary, results, sink)
    await inErrorContext(sink, () => replaceTarget(target, before, temporary, sink))
  } catch (error) {
    // Errors are ignored: the member that has the collection drops it at its next start.
    await sink.run(command('drop', temporary).string('$db', target.db).finish(), [])
    throw error
  }
}

async function replaceTarget(target: Target, before: TargetState, temporary: string, sink: WriteSink): Promise<void> {
  const { db, collection } = target
  await checkUnsharded(target, sink)
  checkUnchanged(target, before, await stateOf(target, sink))
  await checkWhole({ db, collection: temporary }, sink)
  const rename = command('renameCollection', `${db}.${temporary}`).string('to', `${db}.${collection}`)
  await runOnSink(sink, 'admin', withWriteConcern(rename.bool('dropTarget', true), sink))
}

async function checkUnsharded({ db, collection }: Target, sink: WriteSink): Promise<void> {
  if ((await sink.shardKeyOf(db, collection)) === null) return
  const isOld = (sink.evaluation.language ?? newestLanguage).outNamesShardedTarget
  throw new CommandError(
    'NamespaceCannotBeSharded',
    isOld ? `${db}.${collection} cannot be sharded` : '$out to a sharded collection is not allowed',
  )
}

/** @throws CommandError 17152, 166 */
async function stateOf({ db, collection }: Target, sink: WriteSink): Promise<TargetState> {
  const list = new DocumentWriter(128)
    .int32('listCollections', 1)
    .startDocument('filter')
    .string('name', collection)
    .end()
  const [found] = firstBatchOf(await runOnSink(sink, db, list.startDocument('cursor').end()))
  if (found === undefined) return { options: new DocumentWriter(16).finish(), indexes: [] }
  const ns = `${db}.${collection}`
  if (findField(found, 'type')?.asString() === 'view')
    throw new CommandError('CommandNotSupportedOnView', `Namespace ${ns} is a view, not a collection`)
  const options = findField(found, 'options')!.slice()
  if (findField(options, 'capped')?.isTruthy() === true)
    throw new CommandError(17152, `namespace '${ns}' is capped so it can't be used for $out`)
  const indexes = firstBatchOf(await runOnSink(sink, db, command('listIndexes', collection)))
  return { options, indexes: indexes.filter((index) => findField(index, 'name')?.asString() !== '_id_') }
}

/**
 * A member that has restarted or stepped up has dropped the temporary collection, and a later batch
 * may have created another one.
 * @throws CommandError 11602, with which the pipeline of the server ends then
 */
async function checkWhole(temporary: Target, sink: WriteSink): Promise<void> {
  const { options } = await stateOf(temporary, sink)
  if (findField(options, 'temp') === undefined)
    throw new CommandError('InterruptedDueToReplStateChange', 'operation was interrupted')
}

async function copyIndexes(
  db: string,
  collection: string,
  indexes: readonly Uint8Array[],
  sink: WriteSink,
): Promise<void> {
  if (indexes.length === 0) return
  try {
    await runOnSink(sink, db, command('createIndexes', collection).documents('indexes', indexes))
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(error.code, `Copying indexes for $out failed :: caused by :: ${error.message}`, {
      extra: error.extra,
    })
  }
}

async function insertAll(db: string, collection: string, results: PipelineResults, sink: WriteSink): Promise<void> {
  const batch = new WriteBatch<Uint8Array>()
  const flush = async () => {
    const documents = batch.take()
    if (documents.length === 0) return
    const insert = command('insert', collection)
    if (sink.bypassDocumentValidation) insert.bool('bypassDocumentValidation', true)
    await inErrorContext(sink, () => runOnSink(sink, db, withWriteConcern(insert, sink), [['documents', documents]]))
  }
  for (let document = await results.next(); document !== null; document = await results.next()) {
    if (batch.isFullFor(document.length)) await flush()
    batch.add(document, document.length)
  }
  await flush()
}

function withWriteConcern(writer: DocumentWriter, { writeConcern }: WriteSink): DocumentWriter {
  return writeConcern === undefined ? writer : writer.document('writeConcern', writeConcern)
}

function checkUnchanged({ db, collection }: Target, before: TargetState, after: TargetState): void {
  const ns = `${db}.${collection}`
  if (Buffer.compare(before.options, after.options) !== 0)
    throw new CommandError(
      'CommandFailed',
      `collection options of target collection ${ns} changed during processing. Original options: ${formatDocument(before.options)}, new options: ${formatDocument(after.options)}`,
    )
  const same =
    before.indexes.length === after.indexes.length &&
    before.indexes.every((index, i) => Buffer.compare(index, after.indexes[i]!) === 0)
  if (!same) throw new CommandError('CommandFailed', `indexes of target collection ${ns} changed during processing.`)
}
