import type { CommandRow } from '@shardlab/actor'
import { convertToCappedSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onUnsharded } from '../routing/unsharded-only.js'

export const convertToCapped: CommandRow<MongosInvocation> = {
  ...convertToCappedSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D850'],
  summary: 'Converts an unsharded collection to a capped one.',
  run: (invocation) => onUnsharded(invocation, "You can't convertToCapped a sharded collection"),
}
