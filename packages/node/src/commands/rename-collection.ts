import { checkCollectionName, checkDatabaseName, type CommandArguments, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import { checkCollectionUuid } from '../crud/collection-uuid.js'
import { checkNewName } from '../crud/namespace.js'
import { databaseNameOf, splitNamespace } from '../crud/split-namespace.js'
import { renameLocalCollection } from '../crud/rename.js'
import type { NodeInvocation } from '../invocation.js'
import type { StorageNode } from '../storage-node.js'
import { viewOf } from '../views/view-catalog.js'

export const renameCollectionFields = {
  to: 'string!',
  dropTarget: 'any',
  stayTemp: 'bool',
  collectionUUID: 'binary',
} as const

export interface RenameRequest {
  readonly from: string
  readonly to: string
  readonly dropTarget: boolean
}

/** The arguments of renameCollection, checked. @throws CommandError 73 InvalidNamespace, 20 IllegalOperation, 14 TypeMismatch */
export function renameRequest(args: CommandArguments): RenameRequest {
  if (args.target.type !== BsonType.string)
    throw new CommandError('InvalidNamespace', `collection name has invalid type ${typeName(args.target.type)}`)
  const from = args.target.asString()
  const to = args.string('to')!
  checkNamespace('source', from)
  checkNamespace('target', to)
  if (from === to) throw new CommandError('IllegalOperation', "Can't rename a collection to itself")
  const dropTarget = args.value('dropTarget')
  if (
    dropTarget !== undefined &&
    dropTarget.type !== BsonType.bool &&
    !dropTarget.isNumber() &&
    dropTarget.type !== BsonType.binary
  ) {
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'renameCollection.dropTarget' is the wrong type '${typeName(dropTarget.type)}', expected types '[bool, binData]'`,
    )
  }
  return {
    from,
    to,
    dropTarget: dropTarget !== undefined && (dropTarget.type === BsonType.binary || dropTarget.isTruthy()),
  }
}

function checkNamespace(which: 'source' | 'target', ns: string): void {
  const [db, name] = ns.includes('.') ? splitNamespace(ns) : ['', '']
  try {
    checkDatabaseName(db)
    checkCollectionName(db, name)
  } catch (error) {
    throw error instanceof CommandError
      ? new CommandError('InvalidNamespace', `Invalid ${which} namespace: ${ns}`)
      : error
  }
}

/** @throws CommandError 26 NamespaceNotFound, 48 NamespaceExists, 73 InvalidNamespace, 166 CommandNotSupportedOnView, 14031 OutOfDiskSpace */
export function checkRename(node: StorageNode, { from, to, dropTarget }: RenameRequest): void {
  const source = node.collection(from)
  if (source === undefined) {
    if (viewOf(node, from) !== null) throw new CommandError('CommandNotSupportedOnView', `cannot rename view: ${from}`)
    throw new CommandError('NamespaceNotFound', `Source collection ${from} does not exist`)
  }
  checkNewName(node, to)
  if (node.collection(to) !== undefined) {
    if (!dropTarget) throw new CommandError('NamespaceExists', 'target namespace exists')
  } else if (viewOf(node, to) !== null)
    throw new CommandError('NamespaceExists', `a view already exists with that name: ${to}`)
  if (databaseNameOf(from) === databaseNameOf(to)) node.requireRoom()
  else node.requireRoom(source.dataSizeBytes, source.count + source.indexes().length + 2)
}

export const renameCollection: CommandRow<NodeInvocation> = {
  name: 'renameCollection',
  routing: 'primary-shard',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/renameCollection',
  status: 'full',
  summary: 'Gives a collection another name, in another database where that has the same primary shard.',
  fields: renameCollectionFields,
  async run({ host, args }) {
    const request = renameRequest(args)
    checkCollectionUuid(host, request.from, args)
    checkRename(host, request)
    renameLocalCollection(host, host.collection(request.from)!, request.to, args.bool('stayTemp') === true)
    await host.flush()
    return new DocumentWriter(128)
  },
}
