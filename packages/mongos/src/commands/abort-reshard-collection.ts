import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import { reshardedNamespace } from '../command/resharding-arguments.js'
import { raise } from '../remote/command-reply.js'

/** Server: cluster_abort_reshard_collection_cmd.cpp. */
export const abortReshardCollection: CommandRow<MongosInvocation> = {
  name: 'abortReshardCollection',
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/abortReshardCollection',
  status: 'full',
  summary: 'Gives up the resharding of a collection, which stays as it is.',
  behaviour: 'reshardCollectionCommand',
  fields: {},
  ignoresUnknownFields: true,
  async run({ args, host, operation }) {
    const { ns } = reshardedNamespace(args)
    const { error } = await host.remote.request(configAddress, 'config.abort-resharding', { ns }, operation)
    raise(error)
    return new DocumentWriter(192)
  },
}
