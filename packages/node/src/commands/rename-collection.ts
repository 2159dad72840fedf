import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { databaseNameOf, renameCollectionSpec, type RenameRequest, renameRequest } from '@shardlab/member'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { checkTargetName } from '../ddl/namespace.js'
import { renameLocalCollection } from '../ddl/rename.js'
import { refuseOplogRename } from '../ddl/refuse-oplog.js'
import { refuseFixedNames } from '../ddl/refuse-rename.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { viewOf } from '../views/view-catalog.js'

/**
 * @throws CommandError 20 IllegalOperation, 26 NamespaceNotFound, 48 NamespaceExists, 73
 *   InvalidNamespace, 166 CommandNotSupportedOnView, 14031 OutOfDiskSpace
 */
export function checkRename(node: NodeHost, { from, to, dropTarget }: RenameRequest): void {
  refuseOplogRename(from, to)
  const source = node.collection(from)
  if (source === undefined) {
    if (viewOf(node, from) !== null) throw new CommandError('CommandNotSupportedOnView', `cannot rename view: ${from}`)
    throw new CommandError('NamespaceNotFound', `Source collection ${from} does not exist`)
  }
  checkTargetName(node, to)
  refuseFixedNames(from, to)
  if (node.collection(to) !== undefined) {
    if (!dropTarget) throw new CommandError('NamespaceExists', 'target namespace exists')
  } else if (viewOf(node, to) !== null)
    throw new CommandError('NamespaceExists', `a view already exists with that name: ${to}`)
  if (databaseNameOf(from) === databaseNameOf(to)) node.requireRoom()
  else node.requireRoom(source.dataSizeBytes, source.count + source.indexes().length + 2)
}

export const renameCollection: CommandRow<NodeInvocation> = {
  ...renameCollectionSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D851', 'D915'],
  summary: 'Renames a collection, also into another database with the same primary shard.',
  async run({ host, args }) {
    const request = renameRequest(args)
    checkCollectionUuid(host, request.from, args)
    await host.role.checkRename?.(request.from, request.to)
    checkRename(host, request)
    renameLocalCollection(host, host.collection(request.from)!, request.to, args.bool('stayTemp') === true)
    await host.flush()
    return new DocumentWriter(128)
  },
}
