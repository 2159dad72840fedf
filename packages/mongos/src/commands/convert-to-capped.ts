import type { CommandRow } from '@shardlab/actor'
import { convertToCappedFields } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'
import { onUnsharded } from '../routing/unsharded-only.js'

export const convertToCapped: CommandRow<MongosInvocation> = {
  name: 'convertToCapped',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/convertToCapped',
  status: 'full',
  summary: 'Turns an unsharded collection into a capped one.',
  fields: convertToCappedFields,
  run: (invocation) => onUnsharded(invocation, "You can't convertToCapped a sharded collection"),
}
