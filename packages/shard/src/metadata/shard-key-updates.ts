/** What an update may do to a document's shard key. Manual: core/sharding-change-shard-key-value. */
import { CommandError } from '@shardlab/bson'
import type { Access, NodeInvocation } from '@shardlab/node'
import type { Behaviours } from '@shardlab/sharding'

/**
 * @throws CommandError 66 ImmutableField where values are immutable; 54 NotSingleValueField for arrays; 20 IllegalOperation for a
 *   change that would move the document to another shard
 */
export function checkShardKeyUnchanged(
  behaviours: Behaviours,
  shard: string,
  access: Access,
  before: Uint8Array,
  after: Uint8Array,
  invocation: NodeInvocation,
): void {
  if (access.ownership === null) return
  const { shardKey, table } = access.ownership.placement
  const old = shardKey.extract(before)
  const next = shardKey.extract(after, { missingIsNull: behaviours.missingShardKeyFieldsAreNull })
  if (next === 'array')
    throw new CommandError('NotSingleValueField', 'Shard key update is not allowed to set a shard key field to an array')
  if (typeof old !== 'string' && typeof next !== 'string' && old.keyString === next.keyString) return
  const names = shardKey.fields.map((field) => field.path).join(', ')
  if (behaviours.shardKeyValuesAreImmutable || typeof next === 'string') {
    throw new CommandError('ImmutableField', `After applying the update, the (immutable) field '${names}' was found to have been altered`)
  }
  if (table.shardOf(next.keyString) === shard) return
  throw new CommandError(
    'IllegalOperation',
    invocation.retryable === null
      ? 'Must run update to shard key field in a multi-statement transaction or with retryWrites: true.'
      : 'Update of the shard key field would move the document to another shard, which is not supported',
  )
}
