import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, stringValue, typeName } from '@shardlab/bson'
import { getShardVersionSpec } from '@shardlab/member'
import type { NodeInvocation } from '@shardlab/node'

/** Server: get_shard_version_command.cpp. */
export const getShardVersion: CommandRow<NodeInvocation> = {
  ...getShardVersionSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D852'],
  missing: 'fullMetadata, the list of chunks',
  summary: 'Returns the version of a sharded collection that this shard knows.',
  run({ args, host }) {
    const { target } = args
    if (target.type !== BsonType.string)
      throw new CommandError('BadValue', `collection name has invalid type ${typeName(target.type)}`)
    const ns = target.asString()
    if (ns.indexOf('.') < 1 || ns.endsWith('.'))
      throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
    if (args.value('fullMetadata')?.isTruthy() === true)
      throw new CommandError('InvalidOptions', 'fullMetadata is not supported in getShardVersion')
    const identity = host.collection('admin.system.version')?.findById(stringValue('shardIdentity'))?.document
    const writer = new DocumentWriter(256)
    if (identity === undefined) writer.string('configServer', '')
    else writer.value('configServer', findField(identity, 'configsvrConnectionString')!)
    const { getShardVersionReportsConnection } = host.behaviours
    // Connections have no versions here: routers send one with each command.
    if (getShardVersionReportsConnection) writer.bool('inShardedMode', false).timestamp('mine', 0, 0)
    for (const [name, version] of host.role.placements?.() ?? []) {
      if (name === ns)
        return version === null ? writer.timestamp('global', 0, 0) : writer.timestamp('global', version[3], version[4])
    }
    return getShardVersionReportsConnection ? writer.timestamp('global', 0, 0) : writer.string('global', 'UNKNOWN')
  },
}
