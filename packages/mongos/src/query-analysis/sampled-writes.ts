/**
 * A `sampleId` in a statement makes the shard store the changes of the update to a document.
 * Server: makeSampledUpdateCommandRequest and related functions of query_analysis_writer.cpp,
 * bulk_write.cpp.
 */
import { CommandArguments } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, FieldIterator } from '@shardlab/bson'
import { splitNamespace, findAndModifySpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { WriteCommand } from '../writes/write-command.js'

/** Adds sample ids to the sampled statements. Returns the same object if none is sampled. */
export function sampleWrites(invocation: MongosInvocation, command: WriteCommand): WriteCommand {
  const { host, operation, args } = invocation
  const { sampling } = host
  if (sampling?.isActive !== true) return command
  let chosen = 0
  const statements = command.statements.map((statement, index) => {
    const kind = command.kindOf(index)
    const { ns } = command.namespaces[command.namespaceOf(index)]!
    if (kind === 'insert') return statement
    const sampleId = sampling.choose(ns, 'writes')
    if (sampleId === null) return statement
    chosen++
    const withId = withSampleId(statement, sampleId)
    const cmd = command.name === 'bulkWrite' ? bulkWriteOf(ns, withId, args) : writeOf(kind, ns, withId, args)
    sampling.keepLater(operation, { ns, sampleId, cmdName: command.name, cmd })
    return withId
  })
  return chosen === 0 ? command : { ...command, statements, untouched: false }
}

/** Returns the same object if the command is not sampled. */
export function sampleFindAndModify(invocation: MongosInvocation, ns: string): MongosInvocation {
  const { host, operation, body, args, db } = invocation
  const { sampling } = host
  const sampleId = sampling?.isActive === true ? sampling.choose(ns, 'writes') : null
  if (sampleId === null) return invocation
  const writer = new DocumentWriter(512)
    .string('findAndModify', ns.slice(db.length + 1))
    .document('query', args.document('query') ?? emptyDocument)
  for (const name of ['sort', 'collation', 'arrayFilters', 'remove', 'update', 'upsert', 'new', 'let']) {
    const value = args.value(name)
    if (value !== undefined) writer.value(name, value)
  }
  sampling!.keepLater(operation, {
    ns,
    sampleId,
    cmdName: 'findAndModify',
    cmd: writer.uuid('sampleId', sampleId).string('$db', db).finish(),
  })
  const sampled = withSampleId(body, sampleId)
  return { ...invocation, body: sampled, args: CommandArguments.parse(sampled, findAndModifySpec.fields) }
}

function withSampleId(document: Uint8Array, sampleId: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(document.length + 32)
  for (const it = new FieldIterator(document); it.next();)
    if (it.name() !== 'sampleId') writer.value(it.name(), it.value())
  return writer.uuid('sampleId', sampleId).finish()
}

function writeOf(kind: 'update' | 'delete', ns: string, statement: Uint8Array, args: CommandArguments): Uint8Array {
  const [db, name] = splitNamespace(ns)
  const writer = new DocumentWriter(statement.length + 256)
    .string(kind, name)
    .bool('bypassDocumentValidation', false)
    .bool('ordered', true)
    .startArray(kind === 'update' ? 'updates' : 'deletes')
    .document('0', kind === 'update' ? withDefaults(statement) : statement)
    .end()
  return finish(writer, args, db)
}

/** The server's order: `q`, `u` and related fields first, then `multi` and `upsert`. */
function withDefaults(statement: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(statement.length + 32)
  const given = new Map<string, ReturnType<FieldIterator['value']>>()
  for (const it = new FieldIterator(statement); it.next();) given.set(it.name(), it.value())
  for (const name of ['q', 'u', 'c', 'arrayFilters', 'hint']) {
    const value = given.get(name)
    if (value !== undefined) writer.value(name, value)
    given.delete(name)
  }
  for (const name of ['multi', 'upsert']) {
    writer.bool(name, given.get(name)?.isTruthy() === true)
    given.delete(name)
  }
  for (const [name, value] of given) writer.value(name, value)
  return writer.finish()
}

function bulkWriteOf(ns: string, op: Uint8Array, args: CommandArguments): Uint8Array {
  const first = new DocumentWriter(op.length)
  let position = 0
  for (const it = new FieldIterator(op); it.next(); position++) {
    if (position === 0) first.int32(it.name(), 0)
    else first.value(it.name(), it.value())
  }
  const writer = new DocumentWriter(op.length + 256)
    .int32('bulkWrite', 1)
    .startArray('ops')
    .document('0', first.finish())
    .end()
  return finish(writer.startArray('nsInfo').startDocument('0').string('ns', ns).end().end(), args, 'admin')
}

function finish(writer: DocumentWriter, args: CommandArguments, db: string): Uint8Array {
  const letVariables = args.document('let')
  if (letVariables !== undefined) writer.document('let', letVariables)
  return writer.string('$db', db).finish()
}
