import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { compileStatement, upsertedDocument, withCollation, type UpdateStatement } from '@shardlab/member'
import { compileFilter, type EvaluationContext } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import { narrowedFilter } from '../single-document/search-first.js'

export interface UpsertPlace {
  readonly shard: string
  /** With the `_id` that the router has generated; null: the statement's own filter. */
  readonly filter: Uint8Array | null
}

/**
 * If the shard key has an `_id` that neither filter nor update sets, the router generates it: the
 * shard could generate one that belongs to another shard.
 * @param evaluation the router's, which generates ObjectIds
 * @throws CommandError 61 ShardKeyNotFound for arrays in the shard key; for an invalid update
 */
export function placeOfUpsert(
  evaluation: EvaluationContext,
  { shardKey, table, defaultCollation }: CollectionPlacement,
  statement: UpdateStatement,
): UpsertPlace {
  const context = withCollation(evaluation, statement.collation, defaultCollation)
  const change = compileStatement(statement, context)
  const documentFor = (filter: Uint8Array) => upsertedDocument(statement, change, compileFilter(filter, context))
  let filter: Uint8Array | null = null
  let document = documentFor(statement.filter)
  if (shardKey.paths.includes('_id') && findField(document, '_id') === undefined) {
    const byId = new DocumentWriter(32).objectId('_id', context.newObjectId!()).finish()
    filter = narrowedFilter(statement.filter, findField(byId, '_id')!)
    document = documentFor(filter)
  }
  const key = shardKey.extract(document)
  if (typeof key === 'string')
    throw new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.')
  return { shard: table.shardOf(key.keyString), filter }
}
