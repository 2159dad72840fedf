import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { zoneRangeArguments } from '../admin/zone-arguments.js'
import { raise } from '../remote/command-reply.js'
import { zonePrivileges } from '@shardlab/member'

export const updateZoneKeyRange: CommandRow<MongosInvocation> = {
  name: 'updateZoneKeyRange',
  aliases: ['updatezonekeyRange'],
  routing: 'config-server',
  access: 'admin',
  privileges: zonePrivileges(['shards', 'find'], ['tags', 'find', 'update', 'remove']),
  adminOnly: true,
  behaviour: 'zoneCommands',
  manual: 'reference/command/updateZoneKeyRange',
  status: 'full',
  summary: 'Assigns a range of shard keys to a zone, or removes it from its zone.',
  async run(invocation) {
    const { host, operation } = invocation
    raise(
      (
        await host.remote.request(
          configAddress,
          'config.update-zone-key-range',
          zoneRangeArguments(invocation),
          operation,
        )
      ).error,
    )
    return new DocumentWriter(192)
  },
}
