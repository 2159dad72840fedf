import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { zoneArguments } from '../admin/zone-arguments.js'
import { raise } from '../remote/command-reply.js'
import { zonePrivileges } from '@shardlab/member'

export const addShardToZone: CommandRow<MongosInvocation> = {
  name: 'addShardToZone',
  aliases: ['addshardtozone'],
  routing: 'config-server',
  access: 'admin',
  privileges: zonePrivileges(['shards', 'update']),
  adminOnly: true,
  behaviour: 'zoneCommands',
  manual: 'reference/command/addShardToZone',
  status: 'full',
  summary: 'Adds a shard to a zone, so that it can own ranges of the zone.',
  async run(invocation) {
    const { host, operation } = invocation
    raise(
      (await host.remote.request(configAddress, 'config.add-shard-to-zone', zoneArguments(invocation), operation))
        .error,
    )
    return new DocumentWriter(192)
  },
}
