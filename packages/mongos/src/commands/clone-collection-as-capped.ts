import type { CommandRow } from '@shardlab/actor'
import { cloneCollectionAsCappedFields } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'
import { onUnsharded } from '../routing/unsharded-only.js'

export const cloneCollectionAsCapped: CommandRow<MongosInvocation> = {
  name: 'cloneCollectionAsCapped',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/cloneCollectionAsCapped',
  status: 'full',
  summary: 'Makes a capped collection with the newest documents of an unsharded one.',
  fields: cloneCollectionAsCappedFields,
  run: (invocation) => onUnsharded(invocation, "You can't cloneCollectionAsCapped a sharded collection"),
}
