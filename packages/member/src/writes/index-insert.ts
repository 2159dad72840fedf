/**
 * Until 4.0 an insert into `system.indexes` creates an index. Server: batched_command_request.cpp
 * and write_op.cpp of 2.6; write_ops_parsers.cpp and write_ops_exec.cpp of 4.0,
 * `performCreateIndexes`.
 */
import { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { splitNamespace } from '../arguments/split-namespace.js'
import { createIndexesSpec } from '../specs/create-indexes.js'
import { statementsOf, type StatementSource } from './write-statements.js'

export const systemIndexes = 'system.indexes'

/** Fields of an insert that createIndexes does not have. */
const insertOnly = new Set(['insert', 'documents', 'ordered', 'bypassDocumentValidation'])
const notInSpec = new Set(['_id', 'ns'])

interface InsertInvocation extends StatementSource {
  readonly db: string
}

export function insertsIndex({ host, args }: InsertInvocation): boolean {
  return (
    host.behaviours.indexesByInsert && args.target.type === BsonType.string && args.target.asString() === systemIndexes
  )
}

/**
 * The insert, as createIndexes.
 * @throws CommandError 72 InvalidOptions in 2.6; 16 InvalidLength, 73 InvalidNamespace, 20
 *   IllegalOperation
 */
export function asCreateIndexes<I extends InsertInvocation>(invocation: I): I {
  const { body, db, host } = invocation
  const statements = statementsOf(invocation, 'insert')
  const spec = statements[0]!
  const ns = findField(spec, 'ns')
  const indexed = ns?.type === BsonType.string ? ns.asString() : ''
  checkIndexed(host.behaviours, db, statements.length, indexed)
  const index = new DocumentWriter(spec.length)
  for (const it = new FieldIterator(spec); it.next();) if (!notInSpec.has(it.name())) index.value(it.name(), it.value())
  const writer = new DocumentWriter(body.length + spec.length)
    .string('createIndexes', splitNamespace(indexed)[1])
    .documents('indexes', [index.finish()])
  for (const it = new FieldIterator(body); it.next();)
    if (!insertOnly.has(it.name())) writer.value(it.name(), it.value())
  const command = writer.finish()
  return {
    ...invocation,
    body: command,
    args: CommandArguments.parse(command, createIndexesSpec.fields),
    sequences: [],
  }
}

function checkIndexed(behaviours: Behaviours, db: string, count: number, indexed: string): void {
  const [indexedDb, name] = indexed.includes('.') ? splitNamespace(indexed) : ['', '']
  const isValid = indexedDb !== '' && name !== ''
  if (behaviours.catalogCollections) {
    if (count !== 1) throw new CommandError('InvalidOptions', 'invalid batch request for index creation')
    if (!isValid) throw new CommandError('InvalidOptions', `${indexed} is not a valid namespace to index`)
    if (indexedDb !== db)
      throw new CommandError('InvalidOptions', `${indexed} namespace is not in the request database ${db}`)
    return
  }
  if (count !== 1)
    throw new CommandError('InvalidLength', 'Insert commands to system.indexes are limited to a single insert')
  if (!isValid) throw new CommandError('InvalidNamespace', `${indexed} is not a valid namespace to index`)
  if (indexedDb !== db) throw new CommandError('IllegalOperation', `${indexed} is not in the target database ${db}`)
}

/** How many indexes a reply of createIndexes has created: 0 if the index existed. */
export function indexesCreated(reply: Uint8Array): number {
  const count = (name: string) => findField(reply, name)?.asNumber() ?? 0
  return count('numIndexesAfter') - count('numIndexesBefore')
}
