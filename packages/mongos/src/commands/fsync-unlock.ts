import type { CommandRow } from '@shardlab/actor'
import { fsyncUnlockSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeRaw } from '../routing/raw-replies.js'
import { membersWithData, unlockAll } from './fsync.js'

/** Server: cluster_fsync_unlock_cmd.cpp. */
export const fsyncUnlock: CommandRow<MongosInvocation> = {
  ...fsyncUnlockSpec,
  routing: 'all-shards',
  status: 'full',
  behaviour: 'fsyncLockOnRouters',
  summary: 'Ends the lock of fsync on the shards and on the config server.',
  run: async (invocation) => writeRaw(invocation, await unlockAll(invocation, await membersWithData(invocation))),
}
