import type { CommandRow } from '@shardlab/actor'
import { cloneCollectionAsCappedSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onUnsharded } from '../routing/unsharded-only.js'

export const cloneCollectionAsCapped: CommandRow<MongosInvocation> = {
  ...cloneCollectionAsCappedSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D850'],
  summary: 'Copies the newest documents of an unsharded collection to a new capped collection.',
  run: (invocation) => onUnsharded(invocation, "You can't cloneCollectionAsCapped a sharded collection"),
}
