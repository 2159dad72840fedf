import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { abortResharding } from '../admin/run-resharding.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_abort_reshard_collection_cmd.cpp. */
export const abortReshardCollection: CommandRow<MongosInvocation> = {
  name: 'abortReshardCollection',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('reshardCollection'),
  adminOnly: true,
  manual: 'reference/command/abortReshardCollection',
  status: 'full',
  summary: 'Aborts the resharding of a collection, which stays unchanged.',
  behaviour: 'reshardCollectionCommand',
  fields: {},
  unknownFields: 'ignored',
  run: (invocation) =>
    abortResharding(invocation, invocation.host.behaviours.moveCollectionCommand ? 'reshardCollection' : null),
}
