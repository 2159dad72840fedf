import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { zoneArguments } from '../admin/zone-arguments.js'
import { raise } from '../remote/command-reply.js'
import { zonePrivileges } from '@shardlab/member'

export const removeShardFromZone: CommandRow<MongosInvocation> = {
  name: 'removeShardFromZone',
  aliases: ['removeshardfromzone'],
  routing: 'config-server',
  access: 'admin',
  privileges: zonePrivileges(['shards', 'update'], ['tags', 'find']),
  adminOnly: true,
  behaviour: 'zoneCommands',
  manual: 'reference/command/removeShardFromZone',
  status: 'full',
  summary: 'Removes a shard from a zone, unless the zone has ranges and no other shard.',
  async run(invocation) {
    const { host, operation } = invocation
    raise(
      (await host.remote.request(configAddress, 'config.remove-shard-from-zone', zoneArguments(invocation), operation))
        .error,
    )
    return new DocumentWriter(192)
  },
}
