import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { reshardedNamespace } from '../admin/resharding-arguments.js'
import { raise } from '../remote/command-reply.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_commit_reshard_collection_cmd.cpp. */
export const commitReshardCollection: CommandRow<MongosInvocation> = {
  name: 'commitReshardCollection',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('reshardCollection'),
  adminOnly: true,
  manual: 'reference/command/commitReshardCollection',
  status: 'full',
  summary: 'Makes the resharding of a collection block writes and commit as soon as possible.',
  behaviour: 'reshardCollectionCommand',
  fields: {},
  unknownFields: 'ignored',
  async run({ args, host, operation }) {
    const { ns } = reshardedNamespace(args)
    const { error } = await host.remote.request(configAddress, 'config.commit-resharding', { ns }, operation)
    raise(error)
    return new DocumentWriter(192)
  },
}
