import type { CommandRow } from '@shardlab/actor'
import { dropSpec } from '@shardlab/member'
import { CommandError, DocumentWriter, ErrorCodes, noCode } from '@shardlab/bson'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { dropLocalNamespace } from '../ddl/drop.js'
import { isTemporary } from '../ddl/temporary.js'
import { refuseOplogDrop } from '../ddl/refuse-oplog.js'
import type { NodeInvocation } from '../host/node-host.js'

export const drop: CommandRow<NodeInvocation> = {
  ...dropSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Drops a collection or a view.',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    refuseOplogDrop(ns, host.behaviours)
    const found = host.collection(ns)
    // A temporary collection is dropped even if the disk is full: the next start would drop it
    // anyway.
    if (found === undefined || !isTemporary(found)) host.requireRoom()
    await host.role.enter(ns, invocation)
    checkCollectionUuid(host, ns, args)
    const dropped = dropLocalNamespace(host, ns)
    await host.flush()
    if (dropped === null) {
      if (host.readable(ns) !== undefined) throw new CommandError('IllegalOperation', "can't drop system ns")
      const { droppingMissingCollection } = host.behaviours
      if (droppingMissingCollection === 'succeeds') return new DocumentWriter(128)
      throw new CommandError(
        droppingMissingCollection === 'fails' ? ErrorCodes.NamespaceNotFound : noCode,
        'ns not found',
      )
    }
    const writer = new DocumentWriter(128)
    if (dropped.indexCount !== null) writer.int32('nIndexesWas', dropped.indexCount)
    return writer.string('ns', ns)
  },
}
