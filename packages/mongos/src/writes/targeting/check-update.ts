import { BsonType, CommandError, FieldIterator } from '@shardlab/bson'
import type { UpdateStatement } from '@shardlab/member'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'

/**
 * Null: the router sends the update to shards, which may refuse it. Server:
 * chunk_manager_targeter.cpp, getUpdateExprType and validateUpdateDoc.
 */
export function updateRefusal(
  { update, multi }: UpdateStatement,
  { routersRefuseMultiReplacements }: Behaviours,
): CommandError | null {
  if (update.type !== BsonType.object) return null
  const fields = new FieldIterator(update.bytes, update.start)
  const isReplacement = !fields.next() || !fields.name().startsWith('$')
  while (fields.next()) {
    if (fields.name().startsWith('$') !== isReplacement) continue
    return new CommandError(
      'UnsupportedFormat',
      `update document ${formatDocument(update.slice())} has mixed $operator and non-$operator style fields`,
    )
  }
  return isReplacement && multi && routersRefuseMultiReplacements
    ? new CommandError('InvalidOptions', 'Replacement-style updates cannot be {multi:true}')
    : null
}
