import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { reshardCollectionFields } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { reshardedNamespace } from '../admin/resharding-arguments.js'
import { runResharding } from '../admin/run-resharding.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_reshard_collection_cmd.cpp. */
export const reshardCollection: CommandRow<MongosInvocation> = {
  name: 'reshardCollection',
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedNamespace('reshardCollection'),
  adminOnly: true,
  manual: 'reference/command/reshardCollection',
  status: 'partial',
  deviations: ['D833', 'D834', 'D835', 'D836', 'D837', 'D838'],
  summary: 'Changes the shard key of a collection and redistributes its documents.',
  behaviour: 'reshardCollectionCommand',
  fields: { ...reshardCollectionFields, collectionUUID: 'binary' },
  unknownFields: 'ignored',
  run(invocation) {
    const { args, host } = invocation
    const { db, ns } = reshardedNamespace(args)
    // The primary shard compares requests to find repetitions, so this one has no generated values.
    const request = new DocumentWriter(512).string('reshardCollection', ns)
    for (const name of Object.keys(reshardCollectionFields)) {
      const value = args.value(name)
      if (value !== undefined) request.value(name, value)
    }
    if (host.behaviours.moveCollectionCommand) request.string('provenance', 'reshardCollection')
    return runResharding(invocation, { db, ns }, request.finish())
  },
}
