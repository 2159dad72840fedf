/** Server: chunk_manager_targeter.cpp, targetInsert. */
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours, CollectionPlacement } from '@shardlab/sharding'
import type { StatementTarget } from './statement-target.js'

/** @param toShard makes a target without the bounds of the key; null: the bounds are needed */
export function targetInsert(
  placement: CollectionPlacement,
  behaviours: Behaviours,
  document: Uint8Array,
  toShard: ((shard: string) => StatementTarget) | null,
): StatementTarget {
  const { shardKey, table } = placement
  const options = { missingIsNull: behaviours.missingShardKeyFieldsAreNull }
  if (toShard !== null && behaviours.shardKeySizeLimitBytes === null) {
    const keyString = shardKey.keyStringOf(document, options)
    if (keyString !== undefined) return toShard(table.shardOf(keyString))
  }
  const key = shardKey.extract(document, options)
  if (key === 'array')
    return failed(new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.'))
  if (key === 'missing') {
    return failed(
      new CommandError(
        'ShardKeyNotFound',
        `document ${formatDocument(document)} does not contain shard key for pattern ${formatDocument(shardKey.document)}`,
      ),
    )
  }
  if (behaviours.shardKeySizeLimitBytes !== null) {
    const tooLarge = keyTooLarge(behaviours, shardKey.boundDocument(key.values))
    if (tooLarge !== null) return failed(tooLarge)
  }
  const shard = table.shardOf(key.keyString)
  if (toShard !== null) return toShard(shard)
  const bound = shardKey.boundDocument(key.values)
  return { kind: 'one', shard, isBroadcast: false, chunks: 1, bounds: [[bound, bound]] }
}

/** Null: a document with this shard key can be inserted. */
export function keyTooLarge({ shardKeySizeLimitBytes }: Behaviours, bound: Uint8Array): CommandError | null {
  if (shardKeySizeLimitBytes === null || bound.length <= shardKeySizeLimitBytes) return null
  const message = `shard keys must be less than ${shardKeySizeLimitBytes} bytes, but key ${formatDocument(bound)} is ${bound.length} bytes`
  return new CommandError(13334, message)
}

function failed(error: CommandError): StatementTarget {
  return { kind: 'failed', error }
}
