import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onCluster } from '@shardlab/member'

/** Server: get_shard_map_cmd.cpp, ShardRegistry::toBSON. */
export const getShardMap: CommandRow<MongosInvocation> = {
  name: 'getShardMap',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('getShardMap'),
  adminOnly: true,
  manual: 'reference/command/getShardMap',
  status: 'full',
  summary: 'Shows the hosts of each shard, as cached by the router.',
  async run({ host, operation }) {
    await host.shards.ids(operation)
    const { shardMapListsHosts } = host.behaviours
    const members = [...host.shards.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
    const config =
      host.options.configHost ??
      (await host.remote.request(configAddress, 'config.introduce', {}, operation)).connectionString
    if (shardMapListsHosts) members.push([configAddress, config])
    else members.unshift([configAddress, config])
    const writer = new DocumentWriter(512).startDocument('map')
    for (const [id, connection] of members) writer.string(id, connection)
    writer.end()
    if (!shardMapListsHosts) return writer
    writer.startDocument('hosts')
    for (const [id, connection] of members) writer.string(connection.split('/').at(-1)!, id)
    writer.end().startDocument('connStrings')
    for (const [id, connection] of members) writer.string(connection, id)
    return writer.end()
  },
}
