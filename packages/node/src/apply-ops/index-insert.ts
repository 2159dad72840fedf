/**
 * An insert into `system.indexes` builds an index. Server: prepForApplyOpsIndexInsert in oplog.cpp.
 */
import { isNamespace } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { databaseNameOf, splitNamespace } from '@shardlab/member'
import { formatDocument } from '@shardlab/query'
import type { Operation } from './operation.js'

/**
 * The operation as the command createIndexes.
 * @throws CommandError 4 NoSuchKey, 14 TypeMismatch, 73 InvalidNamespace
 */
export function asIndexBuild(operation: Operation): Operation {
  const { document, object, ns } = operation
  const text = formatDocument(document)
  if (findField(document, 'o') === undefined)
    throw new CommandError('NoSuchKey', `Missing expected index spec in field 'o': ${text}`)
  if (object === null) throw new CommandError('TypeMismatch', `Expected object for index spec in field 'o': ${text}`)
  const indexed = findField(object, 'ns')
  if (indexed === undefined) throw new CommandError('NoSuchKey', 'Missing expected field "ns"')
  if (indexed.type !== BsonType.string)
    throw new CommandError('TypeMismatch', '"ns" had the wrong type. Expected string')
  const indexedNs = indexed.asString()
  if (!isNamespace(indexedNs)) throw new CommandError('InvalidNamespace', `Invalid namespace in index spec: ${text}`)
  const db = databaseNameOf(ns)
  if (databaseNameOf(indexedNs) !== db)
    throw new CommandError(
      'InvalidNamespace',
      `Database name mismatch for database (${db}) while creating index: ${text}`,
    )
  const command = new DocumentWriter(object.length + 64).string('createIndexes', splitNamespace(indexedNs)[1])
  // Older servers stored no version.
  if (findField(object, 'v') === undefined) command.int32('v', 1)
  return { ...operation, op: 'c', ns: `${db}.$cmd`, object: command.fields(object).finish() }
}
