import { CommandError } from '@shardlab/bson'
import { compileStatement, upsertedDocument, withCollation, type UpdateStatement } from '@shardlab/node'
import { compileFilter, type EvaluationContext } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'

/**
 * The shard that the document of an upsert belongs to.
 * @throws CommandError 61 ShardKeyNotFound for arrays in the shard key, and what the update is refused with
 */
export function shardOfUpsert(
  evaluation: EvaluationContext,
  { shardKey, table, defaultCollation }: CollectionPlacement,
  statement: UpdateStatement,
): string {
  const context = withCollation(evaluation, statement.collation, defaultCollation)
  const filter = compileFilter(statement.filter, context)
  const key = shardKey.extract(upsertedDocument(statement, compileStatement(statement, context), filter))
  if (typeof key === 'string') throw new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.')
  return table.shardOf(key.keyString)
}
