import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { abortResharding } from '../admin/run-resharding.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_abort_unshard_collection_cmd.cpp. */
export const abortUnshardCollection: CommandRow<MongosInvocation> = {
  name: 'abortUnshardCollection',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('unshardCollection'),
  adminOnly: true,
  manual: 'reference/command/abortUnshardCollection',
  status: 'full',
  summary: 'Aborts the unsharding of a collection, which stays unchanged.',
  behaviour: 'moveCollectionCommand',
  fields: {},
  unknownFields: 'ignored',
  run: (invocation) => abortResharding(invocation, 'unshardCollection'),
}
