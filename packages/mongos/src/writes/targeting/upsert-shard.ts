import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { compileStatement, upsertedDocument, withCollation, type UpdateStatement } from '@shardlab/member'
import { compileFilter, type EvaluationContext } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import { narrowedFilter } from '../single-document/search-first.js'

/** Where the document of an upsert goes. */
export interface UpsertPlace {
  readonly shard: string
  /** What the shard is asked instead of the statement's own filter: it names the `_id` that the router has chosen. Null: the filter stays. */
  readonly filter: Uint8Array | null
}

/**
 * The shard that the document of an upsert belongs to. Where the shard key has an `_id` that neither filter nor update names, the router
 * chooses it, since the shard's own choice would belong elsewhere.
 * @param evaluation one of the router's: it draws ObjectIds
 * @throws CommandError 61 ShardKeyNotFound for arrays in the shard key, and what the update is refused with
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
