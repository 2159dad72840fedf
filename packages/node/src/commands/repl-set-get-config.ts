import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

/** Server: repl_set_config.idl, member_config.idl. Routers do not have it. */
export const replSetGetConfig: CommandRow<NodeInvocation> = {
  name: 'replSetGetConfig',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetGetConfig'),
  adminOnly: true,
  manual: 'reference/command/replSetGetConfig',
  status: 'full',
  summary: 'Describes the configuration of the replica set.',
  behaviour: 'replSetGetConfigCommand',
  run: ({ host, args }) => answered(host.set.coordinator.commands.getConfig(args.bool('commitmentStatus') === true)),
}
