import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { compactSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

/** Server: cluster_compact_cmd.cpp. */
export const compact: CommandRow<MongosInvocation> = {
  ...compactSpec,
  routing: 'local',
  status: 'full',
  summary: 'Refused by routers, as on the server.',
  run() {
    throw new CommandError('CommandNotSupported', 'compact not allowed through mongos')
  },
}
