/** Commands of applyOps. Server: applyCommand_inlock and kOpsMap in oplog.cpp. */
import { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, fieldsOf, findField, sameBytes, typeName } from '@shardlab/bson'
import { databaseNameOf, splitNamespace, uuidText } from '@shardlab/member'
import { formatDocument } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import { createCollection } from '../ddl/namespace.js'
import { collectionOptions } from '../ddl/collection-options.js'
import { refuseFixedNames } from '../ddl/refuse-rename.js'
import { renameLocalCollection } from '../ddl/rename.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { refuseView } from '../views/refuse-view.js'
import { firstName, type Operation } from './operation.js'

interface CommandRule {
  /** Errors that replaying an oplog may cause; they count as success. */
  readonly accepted: readonly string[]
  /** Whether the command's own field names a collection of the database of `ns`. */
  readonly namesCollection: boolean
}

const rules: Readonly<Record<string, CommandRule>> = {
  create: { accepted: ['NamespaceExists'], namesCollection: true },
  collMod: { accepted: ['IndexNotFound', 'NamespaceNotFound'], namesCollection: true },
  drop: { accepted: ['NamespaceNotFound'], namesCollection: true },
  dropDatabase: { accepted: ['NamespaceNotFound'], namesCollection: false },
  dropIndexes: { accepted: ['NamespaceNotFound', 'IndexNotFound'], namesCollection: true },
  renameCollection: { accepted: ['NamespaceNotFound', 'NamespaceExists'], namesCollection: false },
  convertToCapped: { accepted: ['NamespaceNotFound'], namesCollection: true },
  createIndexes: { accepted: ['IndexAlreadyExists', 'NamespaceNotFound'], namesCollection: true },
}
const synonyms: Readonly<Record<string, string>> = {
  deleteIndex: 'dropIndexes',
  deleteIndexes: 'dropIndexes',
  dropIndex: 'dropIndexes',
}
const indexBuilds: ReadonlySet<string> = new Set([
  'createIndexes',
  'startIndexBuild',
  'commitIndexBuild',
  'abortIndexBuild',
])

/**
 * @param nested runs an applyOps in the operation
 * @throws CommandError those of the command, 2 BadValue, 73 InvalidNamespace, 115
 *   CommandNotSupported
 */
export async function applyCommand(
  invocation: NodeInvocation,
  operation: Operation,
  nested: (command: Uint8Array) => Promise<void>,
): Promise<void> {
  const { host } = invocation
  const { ns, object } = operation
  if (host.behaviours.applyOpsMode === 'lenient') return runIgnoringErrors(invocation, operation)
  if (object === null)
    throw findField(operation.document, 'o') === undefined
      ? new CommandError('NoSuchKey', "Missing expected field 'o'")
      : new CommandError('BadValue', "Expected object for field 'o'")
  host.opcounters.command++
  if (ns.indexOf('.') < 1 || ns.endsWith('.')) throw new CommandError('InvalidNamespace', `invalid ns: ${ns}`)
  refuseView(host, ns)
  const sent = firstName(object)
  if (sent === 'applyOps') return nested(object)
  const name = Object.hasOwn(synonyms, sent) ? synonyms[sent]! : sent
  if (indexBuilds.has(name) && !host.behaviours.applyOpsBuildsIndexes)
    throw new CommandError('CommandNotSupported', `The ${name} operation is not supported in applyOps mode`)
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
  if (rule === undefined) {
    if (host.behaviours.applyOpsParsesEntries)
      throw new CommandError('CommandNotSupported', `applyOps of ${name} is not supported`)
    throw new CommandError('BadValue', `Invalid key '${sent}' found in field 'o'`)
  }
  try {
    await runRule(invocation, operation, name, rule)
  } catch (error) {
    if (!(error instanceof CommandError) || !rule.accepted.includes(error.codeName)) throw error
  }
}

async function runRule(
  invocation: NodeInvocation,
  operation: Operation,
  name: string,
  { namesCollection }: CommandRule,
): Promise<void> {
  const { host } = invocation
  const command = operation.object!
  let db = databaseNameOf(operation.ns)
  let collection: string | null = null
  if (namesCollection) {
    collection = collectionNameIn(command)
    if (operation.uuid !== null && name !== 'create') {
      const found = collectionByUuid(host, operation.uuid)
      if (found === undefined)
        throw new CommandError(
          'NamespaceNotFound',
          `Failed to apply operation due to missing collection (${uuidText(operation.uuid)}): ${formatDocument(command)}`,
        )
      ;[db, collection] = splitNamespace(found.ns)
    }
  }
  if (name === 'create' && operation.uuid !== null) {
    if (makeRoomForUuid(invocation, `${db}.${collection}`, operation.uuid)) return
    const args = CommandArguments.parse(command, null)
    createCollection(host, `${db}.${collection}`, collectionOptions(host, `${db}.${collection}`, args, true), {
      uuid: operation.uuid,
    })
    return host.flush()
  }
  await runCommand(invocation, name === 'renameCollection' ? 'admin' : db, commandOf(name, collection, command))
}

/** Server: _runCommands of 2.6. */
async function runIgnoringErrors(invocation: NodeInvocation, { ns, object }: Operation): Promise<void> {
  try {
    if (object !== null) await runCommand(invocation, databaseNameOf(ns), object)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
}

/** @throws CommandError 40073, 28635 */
function collectionNameIn(command: Uint8Array): string {
  const [, value] = fieldsOf(command)[0]!
  if (value.type !== BsonType.string)
    throw new CommandError(40073, `collection name has invalid type ${typeName(value.type)}`)
  const name = value.asString()
  if (name === '') throw new CommandError(28635, 'no collection name specified')
  return name
}

function collectionByUuid(host: NodeHost, uuid: Uint8Array): Collection | undefined {
  return host.engine.collections().find((each) => sameBytes(each.uuid, uuid))
}

/**
 * A collection with this UUID takes the name; another one with the name gets a temporary one.
 * Server: createCollectionForApplyOps.
 * @returns whether the collection exists now
 */
function makeRoomForUuid({ host }: NodeInvocation, ns: string, uuid: Uint8Array): boolean {
  const named = host.collection(ns)
  if (named !== undefined && sameBytes(named.uuid, uuid)) return true
  if (named !== undefined) {
    const suffix = host.context.random.fork('apply-ops').fraction().toString(36).slice(2, 7).padEnd(5, '0')
    refuseFixedNames(ns, ns)
    renameLocalCollection(host, named, `${databaseNameOf(ns)}.tmp${suffix}.create`, true)
  }
  const found = collectionByUuid(host, uuid)
  if (found === undefined) return false
  refuseFixedNames(found.ns, ns)
  renameLocalCollection(host, found, ns, true)
  return true
}

/** An oplog entry has the fields of an index next to createIndexes. */
function commandOf(name: string, collection: string | null, command: Uint8Array): Uint8Array {
  const [first, ...fields] = fieldsOf(command)
  const writer = new DocumentWriter(command.length + 32)
  if (collection === null) writer.value(name, first![1])
  else writer.string(name, collection)
  const isEntry = name === 'createIndexes' && findField(command, 'indexes') === undefined
  if (isEntry) writer.startArray('indexes').startDocument('0')
  for (const [field, value] of fields) writer.value(field, value)
  return isEntry ? writer.end().end().finish() : writer.finish()
}

async function runCommand(invocation: NodeInvocation, db: string, command: Uint8Array): Promise<void> {
  const { host } = invocation
  const row = host.table.find(firstName(command), host.behaviours)
  if (row === undefined) throw new CommandError('CommandNotFound', `no such command: '${firstName(command)}'`)
  const args = CommandArguments.parse(command, row.fields ?? null, [], row.unknownFields, row.handwritten)
  await row.run({ ...invocation, args, body: command, sequences: [], db, routed: null, retryable: null })
}
