/** Server: `ensureFieldsUniqueOrResolveDocumentKey`. */
import { BsonType, CommandError, compareDocuments, FieldIterator, findField } from '@shardlab/bson'
import { compileCollation, newestLanguage, type MergeSpecification } from '@shardlab/query'
import { command, firstBatchOf, runOnSink, type WriteSink } from './write-sink.js'

export interface MergeKey {
  readonly fields: readonly string[]
  /** A field may be missing or null, which the unique index must allow as well. */
  readonly allowsNullish: boolean
}

/**
 * The fields that the stage names, or `_id` and the shard key.
 * @throws CommandError 51183, on a router 51190, when no unique index covers the fields
 */
export async function mergeKeyOf({ db, collection, on }: MergeSpecification, sink: WriteSink): Promise<MergeKey> {
  const allowsNullish = (sink.evaluation.language ?? newestLanguage).mergeMatchesNullish
  if (on === null) {
    const shardKey = await sink.shardKeyOf(db, collection)
    return { fields: [...new Set([...(shardKey ?? []), '_id'])], allowsNullish }
  }
  const indexes = await indexesOf(db, collection, sink)
  if (indexes === null) {
    if (on.length === 1 && on[0] === '_id') return { fields: on, allowsNullish }
    throw notUnique(sink)
  }
  const index = indexes.find((each) => isUniqueOn(each, on, sink))
  if (index === undefined) throw notUnique(sink)
  return { fields: on, allowsNullish: allowsNullish && findField(index, 'sparse')?.isTruthy() !== true }
}

function notUnique({ isRouter }: WriteSink): CommandError {
  return new CommandError(isRouter ? 51190 : 51183, 'Cannot find index to verify that join fields will be unique')
}

/** Null: the collection does not exist. */
async function indexesOf(db: string, collection: string, sink: WriteSink): Promise<readonly Uint8Array[] | null> {
  try {
    return firstBatchOf(await runOnSink(sink, db, command('listIndexes', collection)))
  } catch (error) {
    if (error instanceof CommandError && error.codeName === 'NamespaceNotFound') return null
    throw error
  }
}

function isUniqueOn(index: Uint8Array, fields: readonly string[], { collation }: WriteSink): boolean {
  const isId = findField(index, 'name')?.asString() === '_id_'
  if (!isId && findField(index, 'unique')?.isTruthy() !== true) return false
  if (findField(index, 'partialFilterExpression') !== undefined) return false
  const key = findField(index, 'key')!
  let count = 0
  for (const it = new FieldIterator(key.bytes, key.start); it.next(); count++)
    if (!it.value().isNumber() || !fields.includes(it.name())) return false
  if (count !== fields.length) return false
  const stored = findField(index, 'collation')
  const own = stored?.type === BsonType.object ? (compileCollation(stored.slice())?.document ?? null) : null
  return own === null || collation === null ? own === collation : compareDocuments(own, collation) === 0
}
