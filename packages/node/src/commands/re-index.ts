import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { viewOf } from '../views/view-catalog.js'
import { withNamespace } from './list-indexes.js'
import { onNamespace } from '@shardlab/member'

/** Server: drop_indexes_cmd.cpp, CmdReIndex. Routers do not have it. */
export const reIndex: CommandRow<NodeInvocation> = {
  name: 'reIndex',
  routing: 'local',
  access: 'write',
  privileges: onNamespace('reIndex'),
  manual: 'reference/command/reIndex',
  status: 'full',
  summary: 'Refused by members of replica sets; until 4.4 it rebuilds the indexes of a collection.',
  run({ host, args, db }) {
    const ns = `${db}.${args.collectionName(db)}`
    if (host.behaviours.reIndexNeedsStandalone && !host.isStandalone)
      throw new CommandError(
        'IllegalOperation',
        `reIndex is only allowed on a standalone mongod instance. Cannot reIndex '${ns}' while replication is active`,
      )
    const collection = host.collection(ns)
    if (collection === undefined)
      throw viewOf(host, ns) === null
        ? new CommandError('NamespaceNotFound', 'collection does not exist')
        : new CommandError('CommandNotSupportedOnView', "can't re-index a view")
    // A rebuilt index has the same keys.
    const specs = collection.indexes().map(({ spec }) => withNamespace(host, ns, spec))
    return new DocumentWriter(512)
      .int32('nIndexesWas', specs.length)
      .int32('nIndexes', specs.length)
      .documents('indexes', specs)
  },
}
