import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { dropLocalCollection } from '../crud/drop.js'
import type { NodeInvocation } from '../invocation.js'

export const drop: CommandRow<NodeInvocation> = {
  name: 'drop',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/drop',
  status: 'full',
  summary: 'Drops a collection.',
  fields: { collectionUUID: 'binary' },
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    if (entered instanceof Promise) await entered
    const indexCount = dropLocalCollection(host, ns)
    await host.flush()
    if (indexCount === null) {
      // Up to 6.x a missing collection is an error; later it is not.
      if (host.behaviours.droppingMissingCollectionFails) throw new CommandError('NamespaceNotFound', 'ns not found')
      return new DocumentWriter(128)
    }
    return new DocumentWriter(128).int32('nIndexesWas', indexCount).string('ns', ns)
  },
}
