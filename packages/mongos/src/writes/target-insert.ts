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
  const limitBytes = behaviours.shardKeySizeLimitBytes
  if (limitBytes !== null) {
    const bound = shardKey.boundDocument(key.values)
    if (bound.length > limitBytes) {
      return failed(
        new CommandError(
          13334,
          `shard keys must be less than ${limitBytes} bytes, but key ${formatDocument(bound)} is ${bound.length} bytes`,
        ),
      )
    }
  }
  const bound = wantsBounds ? shardKey.boundDocument(key.values) : null
  return { kind: 'one', shard: table.shardOf(key.keyString), chunks: 1, bounds: bound === null ? [] : [[bound, bound]] }
}

function failed(error: CommandError): StatementTarget {
  return { kind: 'failed', error }
}
