import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { reshardedNamespace } from '../admin/resharding-arguments.js'
import { raise } from '../remote/command-reply.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_cleanup_reshard_collection_cmd.cpp. */
export const cleanupReshardCollection: CommandRow<MongosInvocation> = {
  name: 'cleanupReshardCollection',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('reshardCollection'),
  adminOnly: true,
  manual: 'reference/command/cleanupReshardCollection',
  status: 'full',
  summary: 'Aborts the resharding of a collection, if one is running, and removes what it left.',
  behaviour: 'reshardCollectionCommand',
  fields: {},
  unknownFields: 'ignored',
  async run({ args, host, operation }) {
    const { ns } = reshardedNamespace(args)
    const { error } = await host.remote.request(configAddress, 'config.cleanup-resharding', { ns }, operation)
    raise(error)
    return new DocumentWriter(192)
  },
}
