import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { abortResharding } from '../admin/run-resharding.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_abort_move_collection_cmd.cpp. */
export const abortMoveCollection: CommandRow<MongosInvocation> = {
  name: 'abortMoveCollection',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('moveCollection'),
  adminOnly: true,
  manual: 'reference/command/abortMoveCollection',
  status: 'full',
  summary: 'Aborts the move of a collection, which stays on its shard.',
  behaviour: 'moveCollectionCommand',
  fields: {},
  unknownFields: 'ignored',
  run: (invocation) => abortResharding(invocation, 'moveCollection'),
}
