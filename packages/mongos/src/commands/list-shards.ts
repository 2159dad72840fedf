import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onCluster } from '@shardlab/member'

export const listShards: CommandRow<MongosInvocation> = {
  name: 'listShards',
  aliases: ['listshards'],
  routing: 'config-server',
  access: 'admin',
  privileges: onCluster('listShards'),
  adminOnly: true,
  manual: 'reference/command/listShards',
  status: 'full',
  summary: 'Lists the documents of config.shards.',
  async run({ host, operation }) {
    return new DocumentWriter(1024).documents('shards', await host.shards.refresh(operation))
  },
}
