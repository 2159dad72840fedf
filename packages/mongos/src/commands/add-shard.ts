import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onCluster } from '@shardlab/member'

/** Server: cluster_add_shard_cmd.cpp, add_shard_request_type.cpp. */
export const addShard: CommandRow<MongosInvocation> = {
  name: 'addShard',
  aliases: ['addshard'],
  routing: 'config-server',
  access: 'admin',
  privileges: onCluster('addShard'),
  adminOnly: true,
  manual: 'reference/command/addShard',
  status: 'partial',
  deviations: ['D840', 'D843', 'D854'],
  missing: 'names of other members, and hosts outside of the process',
  summary: 'Makes a running replica set a shard of the cluster.',
  async run({ args, host, operation }) {
    const { target } = args
    if (target.type !== BsonType.string)
      throw new CommandError('FailedToParse', `The first argument to ${args.command} must be a string`)
    const name = args.value('name')
    if (name !== undefined && name.type !== BsonType.string)
      throw new CommandError('TypeMismatch', `"name" had the wrong type. Expected string, found ${typeName(name.type)}`)
    const maxSize = host.behaviours.addShardAcceptsMaxSize ? args.value('maxSize') : undefined
    const { shard, error } = await host.remote.request(
      configAddress,
      'config.add-shard',
      {
        connectionString: target.asString(),
        name: name?.asString() ?? null,
        maxSizeMb: maxSize?.isNumber() === true ? maxSize.asNumber() : 0,
      },
      operation,
    )
    raise(error)
    await host.shards.refresh(operation)
    return new DocumentWriter(256).string('shardAdded', shard)
  },
}
