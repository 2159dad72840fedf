import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'

export const getShardMap: CommandRow<MongosInvocation> = {
  name: 'getShardMap',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getShardMap',
  status: 'full',
  summary: 'Tells which hosts the router knows for each shard.',
  async run({ host, operation }) {
    await host.shards.ids(operation)
    const members = [...host.shards.entries()]
    if (host.options.configHost !== undefined) members.push(['config', host.options.configHost])
    members.sort(([a], [b]) => (a < b ? -1 : 1))
    const writer = new DocumentWriter(512).startDocument('map')
    for (const [id, connection] of members) writer.string(id, connection)
    writer.end().startDocument('hosts')
    for (const [id, connection] of members) writer.string(connection.split('/').at(-1)!, id)
    writer.end().startDocument('connStrings')
    for (const [id, connection] of members) writer.string(connection, id)
    return writer.end()
  },
}
