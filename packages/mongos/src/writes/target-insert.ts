/** Which shard a document belongs to. Server: chunk_manager_targeter.cpp, targetInsert. */
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours, CollectionPlacement } from '@shardlab/sharding'
import type { StatementTarget } from './statement-target.js'

/** `wantsBounds`: somebody looks at where it goes. */
export function targetInsert(
  placement: CollectionPlacement,
  behaviours: Behaviours,
  document: Uint8Array,
  wantsBounds: boolean,
): StatementTarget {
  const { shardKey, table } = placement
  const key = shardKey.extract(document, { missingIsNull: behaviours.missingShardKeyFieldsAreNull })
  if (key === 'array') return failed(new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.'))
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
  const bound = wantsBounds ? shardKey.boundDocument(key.values) : null
  return { kind: 'one', shard: table.shardOf(key.keyString), chunks: 1, bounds: bound === null ? [] : [[bound, bound]] }
}

/** Why a document with this shard key cannot be inserted; null: it can. */
export function keyTooLarge({ shardKeySizeLimitBytes }: Behaviours, bound: Uint8Array): CommandError | null {
  if (shardKeySizeLimitBytes === null || bound.length <= shardKeySizeLimitBytes) return null
  const message = `shard keys must be less than ${shardKeySizeLimitBytes} bytes, but key ${formatDocument(bound)} is ${bound.length} bytes`
  return new CommandError(13334, message)
}

function failed(error: CommandError): StatementTarget {
  return { kind: 'failed', error }
}
