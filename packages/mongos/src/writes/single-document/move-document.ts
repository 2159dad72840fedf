/**
 * A shard rejects an update that gives a document a shard key value of another shard (283). In a
 * transaction the router moves the document, and the client gets the reply of an ordinary update.
 * Else the command runs again in a transaction: `run-converted.ts`. Server: cluster_write_cmd.cpp,
 * cluster_find_and_modify_cmd.cpp.
 */
import { CommandError, DocumentWriter, ErrorCodes, findField, type RawValue } from '@shardlab/bson'
import { emptySummary, resultItem, writeSummary } from '@shardlab/member'
import { isStaleCode } from '../../remote/command-reply.js'
import type { Route, ShardedRoute } from '../../routing/route.js'
import type { MemberAnswer } from '../../routing/scatter.js'
import { codeIn, readShardWriteReply } from '../replies/shard-write-reply.js'
import type { WriteCommand, WriteNamespace } from '../write-command.js'
import { moveInTransaction } from './move-in-transaction.js'
import { isOwnershipChange, ownershipChange, type OwnershipChange } from './ownership-change.js'

/**
 * For a command in a transaction. An error: the document was not moved.
 * @param command named in the error's text; null: none is named
 * @throws CommandError of the transaction, which is over
 */
export async function moveDocument(
  namespace: WriteNamespace,
  route: ShardedRoute,
  shard: string,
  change: OwnershipChange,
  command: 'findAndModify' | null,
): Promise<CommandError | null> {
  const failure = await moveInTransaction(namespace, route, shard, change)
  if (failure === null || isStaleCode(failure.code)) return failure
  return inMove(failure, command)
}

/** Only writes that may change a document can fail with 283: retryable ones, or in transactions. */
export function mayRequireMove(
  { name }: WriteCommand,
  { invocation }: WriteNamespace,
  route: Route,
): route is ShardedRoute {
  const mayMove = invocation.txnNumber !== null || invocation.operation.transaction !== null
  return route.kind === 'sharded' && mayMove && name !== 'insert' && name !== 'delete'
}

/**
 * For commands for which {@link mayRequireMove} is true.
 * @returns the shard's answer, or one that reports an ordinary update
 */
export async function askAndMove(
  command: WriteCommand,
  namespace: WriteNamespace,
  route: ShardedRoute,
  shard: string,
  ask: () => Promise<MemberAnswer>,
): Promise<MemberAnswer> {
  const answer = await ask()
  const entry = answer.error === null ? ownershipError(answer.body) : undefined
  if (entry === undefined) return answer
  if (command.statements.length > 1)
    return withErrors(answer, (each) => (isOwnershipChange(codeIn(each)) ? notAlone() : null))
  if (namespace.invocation.operation.transaction === null) return answer
  const change = ownershipChange(entry)
  const failure = await moveDocument(namespace, route, shard, change, null)
  if (failure !== null) return withErrors(answer, () => failure)
  return { member: shard, receiver: shard, body: movedReply(command, change), error: null }
}

function ownershipError(body: Uint8Array): Uint8Array | undefined {
  // Most replies have no errors; checking that takes one pass over their field names.
  if (findField(body, 'writeErrors') === undefined && (findField(body, 'nErrors')?.asNumber() ?? 0) === 0)
    return undefined
  return readShardWriteReply(body).writeErrors.find((entry) => isOwnershipChange(codeIn(entry)))
}

function notAlone(): CommandError {
  return new CommandError(
    'InvalidOptions',
    'Document shard key value updates that cause the doc to move shards must be sent with write batch of size 1',
  )
}

function withErrors(answer: MemberAnswer, errorFor: (entry: Uint8Array) => CommandError | null): MemberAnswer {
  const body = answer.body!
  const replaced = (entry: Uint8Array) => {
    const error = errorFor(entry)
    return error === null ? entry : withError(entry, error)
  }
  const { bulk, writeErrors } = readShardWriteReply(body)
  const writer = new DocumentWriter(body.length + 512)
  if (bulk === null) {
    for (const name of ['n', 'nModified', 'upserted']) copy(writer, body, name)
    writer.documents('writeErrors', writeErrors.map(replaced))
  } else {
    const items = bulk.items.map((item) => (findField(item, 'ok')!.asNumber() === 0 ? replaced(item) : item))
    writer
      .startDocument('cursor')
      .int64('id', 0n)
      .documents('firstBatch', items)
      .string('ns', 'admin.$cmd.bulkWrite')
      .end()
    writeSummary(writer, bulk.summary)
  }
  for (const name of ['writeConcernError', 'retriedStmtIds']) copy(writer, body, name)
  const { member } = answer
  return { member, receiver: member, body: writer.double('ok', 1).finish(), error: null }
}

function withError(entry: Uint8Array, { code, extra, message }: CommandError): Uint8Array {
  const writer = new DocumentWriter(message.length + 256)
  for (const name of ['ok', 'index', 'idx']) copy(writer, entry, name)
  writer.int32('code', code)
  const isItem = findField(entry, 'idx') !== undefined
  if (isItem) writer.string('errmsg', message)
  if (extra !== null) writer.fields(extra)
  if (!isItem) return writer.string('errmsg', message).finish()
  for (const name of ['n', 'nModified']) copy(writer, entry, name)
  return writer.finish()
}

function copy(writer: DocumentWriter, from: Uint8Array, name: string): void {
  const value = findField(from, name)
  if (value !== undefined) writer.value(name, value)
}

function movedReply({ name }: WriteCommand, { before, after }: OwnershipChange): Uint8Array {
  const upsertedId = before === null ? idOf(after) : null
  const nModified = upsertedId === null ? 1 : 0
  if (name !== 'bulkWrite') {
    const writer = new DocumentWriter(128).int32('n', 1).int32('nModified', nModified)
    if (upsertedId !== null)
      writer.startArray('upserted').startDocument('0').int32('index', 0).value('_id', upsertedId).end().end()
    return writer.double('ok', 1).finish()
  }
  const summary = emptySummary()
  if (upsertedId === null) Object.assign(summary, { nMatched: 1, nModified: 1 })
  else summary.nUpserted = 1
  const writer = new DocumentWriter(256).startDocument('cursor').int64('id', 0n)
  writer
    .documents('firstBatch', [resultItem(0, { n: 1, nModified, upsertedId })])
    .string('ns', 'admin.$cmd.bulkWrite')
    .end()
  return writeSummary(writer, summary).double('ok', 1).finish()
}

function idOf(document: Uint8Array): RawValue {
  return findField(document, '_id')!
}

const duplicateContext =
  "Failed to update document's shard key field. There is either an orphan for this document or _id for this collection is not globally unique."
const otherContext =
  'Update operation was converted into a distributed transaction because the document being updated would move shards and that transaction failed.'

/** The error of a move with the texts of the server. */
function inMove(error: CommandError, command: 'findAndModify' | null): CommandError {
  const isConflict = error.code === ErrorCodes.WriteConflict
  return withContexts(error, command, isConflict ? [] : ['During insert stage of updating a shard key'])
}

/** An error of a command that was converted to a transaction, outside of its move. */
export function inConversion(error: CommandError, command: 'findAndModify' | null): CommandError {
  const { message } = error
  if (message.startsWith(duplicateContext) || message.startsWith(otherContext)) return error
  return withContexts(error, command, [])
}

function withContexts(error: CommandError, command: 'findAndModify' | null, stages: readonly string[]): CommandError {
  const { code, extra, errorLabels, message } = error
  const keyPattern = extra === null ? undefined : findField(extra, 'keyPattern')
  const isDuplicateId =
    code === ErrorCodes.DuplicateKey &&
    keyPattern !== undefined &&
    findField(keyPattern.bytes, '_id', keyPattern.start) !== undefined
  const named = command === null ? [] : [command]
  const contexts = isDuplicateId ? [...named, duplicateContext] : [otherContext, ...named]
  const text = [...contexts, ...stages, message].join(' :: caused by :: ')
  return new CommandError(code, text, { extra, errorLabels, cause: error })
}
