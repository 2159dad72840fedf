/**
 * Explains a single-document write whose shard is unknown: the search on all candidate shards, and
 * the write on one of them. Server: cluster_query_without_shard_key_cmd.cpp and
 * cluster_write_without_shard_key_cmd.cpp, explain; write_without_shard_key_util.cpp.
 */
import { BsonType, DocumentWriter, documentValue, FieldIterator, firstFieldName, isEmptyDocument } from '@shardlab/bson'
import type { ModifyStatement, Verbosity } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { Route } from '../routing/route.js'
import { askForExplains, writeTrailer } from './ask-for-explains.js'
import { writeExecutions, writePlanners } from './merge-explains.js'

/** An explain finds no document, so the write is explained for a made-up `_id`. */
const documentId = 'WriteWithoutShardKey'

/** @param members the shards that are searched; the last one explains the write */
export async function explainTwoPhases(
  invocation: MongosInvocation,
  route: Route,
  members: readonly string[],
  statement: ModifyStatement,
  verbosity: Verbosity,
): Promise<DocumentWriter> {
  const { context } = invocation.host
  const startedMs = context.now()
  const searches = await askForExplains(invocation, route, members, searchCommand(invocation, statement), verbosity)
  const searchedMs = context.now()
  const writes = await askForExplains(
    invocation,
    route,
    members.slice(-1),
    writeCommandOf(invocation, statement),
    verbosity,
  )
  const endedMs = context.now()
  const stage = isSorted(statement) ? 'SHARD_MERGE_SORT' : 'SHARD_MERGE'
  const name = 'inputStage'
  const writer = new DocumentWriter(4096)
  writePlanners(writer, invocation, 'SHARD_WRITE', writes, {
    below: () => void writePlanners(writer, invocation, stage, searches, { name }),
  })
  writeExecutions(writer, 'SHARD_WRITE', writes, endedMs - searchedMs, {
    below: () => void writeExecutions(writer, stage, searches, searchedMs - startedMs, { name }),
  })
  return writeTrailer(writer, invocation, writes)
}

function isSorted({ sort }: ModifyStatement): boolean {
  return sort !== undefined && !isEmptyDocument(sort)
}

function searchCommand({ args, db }: MongosInvocation, statement: ModifyStatement): Uint8Array {
  const { collation, filter, hint, sort } = statement
  const writer = new DocumentWriter(filter.length + 256)
    .string('aggregate', args.collectionName(db))
    .startArray('pipeline')
  const stages: [name: string, write: (name: string) => unknown][] = [
    ['$match', (name) => writer.document(name, filter)],
  ]
  if (isSorted(statement)) stages.push(['$sort', (name) => writer.document(name, sort!)])
  stages.push(
    ['$limit', (name) => writer.int64(name, 1n)],
    ['$project', (name) => writer.startDocument(name).int32('_id', 1).end()],
  )
  for (const [i, [name, write]] of stages.entries()) {
    writer.startDocument(String(i))
    write(name)
    writer.end()
  }
  writer.end().startDocument('cursor').end()
  if (collation !== undefined) writer.document('collation', collation)
  if (typeof hint === 'string') writer.string('hint', hint)
  else if (hint !== undefined) writer.document('hint', hint)
  const variables = args.value('let')
  if (variables !== undefined) writer.value('let', variables)
  return writer.finish()
}

function writeCommandOf({ args, body }: MongosInvocation, statement: ModifyStatement): Uint8Array {
  const command = firstFieldName(body)!
  if (command !== 'update' && command !== 'delete')
    return withTarget(body, 'query', statement, namesPosition(statement, args.document('fields')))
  const name = command === 'update' ? 'updates' : 'deletes'
  const keepsFilter = namesPosition(statement)
  const writer = new DocumentWriter(body.length + 128)
  for (const it = new FieldIterator(body); it.next();) {
    if (it.name() !== name) writer.value(it.name(), it.value())
    else
      writer.documents(
        name,
        (args.documents(name) ?? []).map((each) => withTarget(each, 'q', statement, keepsFilter)),
      )
  }
  return writer.finish()
}

function withTarget(
  document: Uint8Array,
  filterField: 'q' | 'query',
  { filter }: ModifyStatement,
  keepsFilter: boolean,
): Uint8Array {
  const target = new DocumentWriter(filter.length + 64).string('_id', documentId)
  if (keepsFilter)
    for (const it = new FieldIterator(filter); it.next();) if (it.name() !== '_id') target.value(it.name(), it.value())
  const value = documentValue(target.finish())
  const writer = new DocumentWriter(document.length + filter.length + 128)
  let written = false
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    written ||= name === filterField
    if (name === filterField) writer.value(name, value)
    else if (name !== 'collation' || keepsFilter) writer.value(name, it.value())
  }
  return (written ? writer : writer.value(filterField, value)).finish()
}

/** Whether `$` in a path stands for the array element that the filter found. */
function namesPosition(statement: ModifyStatement, projection?: Uint8Array): boolean {
  const hasPosition = (names: FieldIterator) => {
    while (names.next()) if (names.name().split('.').includes('$')) return true
    return false
  }
  if (projection !== undefined && hasPosition(new FieldIterator(projection))) return true
  if (statement.kind !== 'update' || statement.update.type !== BsonType.object) return false
  const { bytes, start } = statement.update
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const value = it.value()
    if (
      it.name().startsWith('$') &&
      value.type === BsonType.object &&
      hasPosition(new FieldIterator(value.bytes, value.start))
    )
      return true
  }
  return false
}
