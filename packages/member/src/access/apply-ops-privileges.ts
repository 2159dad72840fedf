/** Server: oplog_application_checks.cpp, apply_ops_cmd_common.cpp (validateApplyOpsCommand). */
import { CommandArguments, type AccessQuestion } from '@shardlab/actor'
import { anyAction, anyResource } from '@shardlab/auth'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  fieldsOf,
  findField,
  firstFieldName,
  type RawValue,
} from '@shardlab/bson'
import { databaseNameOf, splitNamespace } from '../arguments/split-namespace.js'
import { isAllowed } from './authorize.js'
import { holdsOn, holdsOnCluster, isTrueIn, textIn } from './needs.js'
import { documentsIn } from './pipeline-privileges.js'

/** Commands that need all privileges when other operations are beside them. */
const aloneOnly: readonly string[] = ['create', 'renameCollection']

export function applyOpsPrivileges(question: AccessQuestion): boolean {
  const { args, body, rules, access } = question
  const list = args.target
  const operations = list.type === BsonType.array ? documentsIn(list) : []
  if (rules.isAction('applyOps') && !holdsOnCluster(question, 'applyOps')) return false
  const commands = operations.map(commandOf)
  const isMixed = operations.length > 1 && commands.some((each) => each !== null && aloneOnly.includes(each))
  if (operations.length === 0 || isMixed) return access.privileges.allows(anyResource, anyAction)
  if (operations.some((each) => findField(each, 'ui') !== undefined)) {
    const creates = commands.includes('create') ? ['forceUUID'] : []
    if (!holdsOnCluster(question, 'useUUID', ...creates)) return false
  }
  if (!preConditionsOf(body).every((ns) => holdsOn(question, ns, 'find'))) return false
  const always = findField(body, 'alwaysUpsert')
  return operations.every((each) => allowsOperation(question, each, always === undefined || always.isTruthy()))
}

/** The collections whose documents the reply may show. One without a name fails when it is read. */
function preConditionsOf(body: Uint8Array): readonly string[] {
  const conditions = findField(body, 'preCondition')
  if (conditions?.type !== BsonType.array) return []
  return documentsIn(conditions).flatMap((condition) => textIn(condition, 'ns') ?? [])
}

/** Null: the operation is not a command. */
function commandOf(operation: Uint8Array): string | null {
  const object = findField(operation, 'o')
  if (textIn(operation, 'op') !== 'c' || object?.type !== BsonType.object) return null
  return firstFieldName(object.slice()) ?? null
}

/** An invalid operation fails when the command runs. */
function allowsOperation(question: AccessQuestion, operation: Uint8Array, alwaysUpsert: boolean): boolean {
  const named = textIn(operation, 'ns') ?? ''
  const byUuid = namespaceByUuid(question, operation)
  // It is written whatever the name.
  const ns = byUuid ?? named
  const bypass = isTrueIn(question.body, 'bypassDocumentValidation') ? ['bypassDocumentValidation'] : []
  switch (textIn(operation, 'op')) {
    case 'n':
      return holdsOnCluster(question, 'appendOplogNote')
    case 'i':
      return holdsOn(question, ns, 'insert', ...bypass)
    case 'u': {
      const upserts = alwaysUpsert || isTrueIn(operation, 'b') ? ['insert'] : []
      return holdsOn(question, ns, 'update', ...upserts, ...bypass)
    }
    case 'd':
      return holdsOn(question, ns, 'remove')
    case 'c':
      return allowsCommand(question, operation, named) && allowsCommandByUuid(question, operation, byUuid)
    default:
      return question.access.privileges.allows(anyResource, anyAction)
  }
}

/** Null: the operation has no UUID, or no collection has it. */
function namespaceByUuid({ namespaceOfUuid }: AccessQuestion, operation: Uint8Array): string | null {
  const uuid = findField(operation, 'ui')
  return uuid?.type === BsonType.binary ? namespaceOfUuid(uuid.asBinary()) : null
}

/** @throws CommandError 9 FailedToParse for a command without privileges */
function allowsCommand(question: AccessQuestion, operation: Uint8Array, ns: string, collection?: string): boolean {
  const name = commandOf(operation)
  const privileges = name === null ? undefined : question.privilegesOf(name)
  // Operations may have names that no command has, such as dropIndex.
  if (name === null || privileges === undefined) throw new CommandError('FailedToParse', 'Unrecognized command in op')
  const given = findField(operation, 'o')!.slice()
  const body = collection === undefined ? given : withCollection(given, collection)
  const db = name === 'renameCollection' ? 'admin' : databaseNameOf(ns)
  const args = CommandArguments.parse(body, null)
  return isAllowed(privileges, { ...question, command: name, db, body, args, sequences: [] })
}

/** Of a command that names a collection, and changes the one with the UUID instead. */
function allowsCommandByUuid(question: AccessQuestion, operation: Uint8Array, ns: string | null): boolean {
  const name = commandOf(operation)
  if (ns === null || name === 'renameCollection') return true
  const target = new FieldIterator(findField(operation, 'o')!.slice())
  if (!target.next() || target.type !== BsonType.string) return true
  return allowsCommand(question, operation, ns, splitNamespace(ns)[1])
}

function withCollection(command: Uint8Array, collection: string): Uint8Array {
  const [[name], ...others] = fieldsOf(command) as [[string, RawValue], ...[string, RawValue][]]
  const writer = new DocumentWriter(command.length + collection.length).string(name, collection)
  for (const [field, value] of others) writer.value(field, value)
  return writer.finish()
}
