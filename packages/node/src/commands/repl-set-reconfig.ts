import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, findField, stringValue } from '@shardlab/bson'
import { concernDefaultsId, parseWriteConcern, onCluster } from '@shardlab/member'
import type { WriteConcern } from '@shardlab/replication'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { storedConcernDefaults } from '../replication/concerns/stored-defaults.js'

export const replSetReconfig: CommandRow<NodeInvocation> = {
  name: 'replSetReconfig',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetConfigure'),
  adminOnly: true,
  manual: 'reference/command/replSetReconfig',
  status: 'full',
  summary: 'Changes the configuration of the set; without force one voter at a time since 4.4.',
  async run({ host, args, operation }) {
    if (args.target.type !== BsonType.object) throw new CommandError('BadValue', 'no configuration specified')
    const timeoutMs = args.number('maxTimeMS') ?? 0
    const error = await host.set.reconfigure(
      {
        document: args.target.slice(),
        force: args.bool('force') === true,
        timeoutMs: timeoutMs > 0 ? timeoutMs : null,
        isConfigServer: host.role.name === 'config-server',
        sharding: host.role.name !== 'shard' ? 'none' : isInCluster(host) ? 'in-cluster' : 'shard',
        defaultWriteConcern: await defaultWriteConcern(host),
      },
      operation.signal,
    )
    return answered(error)
  },
}

const isInCluster = (host: NodeHost): boolean =>
  host.collection('admin.system.version')?.findById(stringValue('shardIdentity')) !== undefined

/** That of the cluster, or of a set that is in none. Null: not set. */
async function defaultWriteConcern(host: NodeHost): Promise<Pick<WriteConcern, 'w'> | null> {
  const defaults = isInCluster(host)
    ? (await host.context.request(configAddress, 'config.get-setting', { id: concernDefaultsId })).setting
    : storedConcernDefaults(host)
  const w = defaults === null ? undefined : findField(defaults, 'defaultWriteConcern')
  const parsed = w === undefined ? null : parseWriteConcern(w.slice(), host.behaviours)
  return parsed === null ? null : { w: parsed.w }
}
