/**
 * Server: shard_key_index_util.cpp, shard_key_util.cpp.
 * Manual: core/sharding-shard-key-indexes.
 */
import { CommandError, compareValues, DocumentWriter, fieldsOf, FieldIterator, findField } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours, ShardKeyPattern } from '@shardlab/sharding'
import { prepareIndex, type Collection, type Index } from '@shardlab/storage'
import { documentLackingField } from './missing-key-fields.js'

/** Values count: `{ a: -1 }` and `{ a: 'hashed' }` do not begin with `{ a: 1 }`. */
function isPrefix(keyPattern: Uint8Array, index: Index): boolean {
  const indexed = fieldsOf(index.key)
  return fieldsOf(keyPattern).every(([name, value], i) => {
    const field = indexed[i]
    return field !== undefined && field[0] === name && compareValues(field[1], value) === 0
  })
}

/**
 * Whether routing and migrations can rely on the index.
 * @param singleKey it must not be multikey, in any field
 */
export function supportsShardKey(index: Index, keyPattern: Uint8Array, singleKey: boolean): boolean {
  return (
    !index.sparse &&
    index.partialFilter === null &&
    index.collation === null &&
    !(singleKey && index.multikey) &&
    isPrefix(keyPattern, index)
  )
}

/** Finds a visible index that is not multikey and not named in `but`. */
export function shardKeyIndex(
  collection: Collection,
  keyPattern: Uint8Array,
  but: ReadonlySet<string> = new Set(),
): Index | undefined {
  return collection
    .indexes()
    .find((index) => !index.hidden && !but.has(index.name) && supportsShardKey(index, keyPattern, true))
}

/**
 * An index must provide the order of the key, and in some versions every document must have all its
 * fields. An index on `_id` is always sufficient.
 * @returns the error text of checkShardingIndex; null: no problem
 */
export function shardingIndexProblem(
  behaviours: Behaviours,
  collection: Collection | undefined,
  keyPattern: Uint8Array,
): string | null {
  if (isIdPattern(keyPattern)) return null
  if (collection === undefined) return 'ns not found'
  const index = shardKeyIndex(collection, keyPattern)
  if (index === undefined) {
    const reasons = behaviours.shardKeyIndexErrorsGiveReasons
      ? collection
          .indexes()
          .filter((each) => !each.hidden)
          .map((each) => `\nIndex ${each.name} cannot be used for sharding because:${whyUnsuitable(each, keyPattern)}`)
      : []
    return `couldn't find valid index for shard key${reasons.join('')}`
  }
  return behaviours.missingShardKeyFieldsAreNull ? null : documentLackingField(collection, keyPattern)
}

/** The field `_id` alone, with any value. */
export function isIdPattern(keyPattern: Uint8Array): boolean {
  const it = new FieldIterator(keyPattern)
  return it.next() && it.name() === '_id' && !it.next()
}

function whyUnsuitable(index: Index, keyPattern: Uint8Array): string {
  const fits = isPrefix(keyPattern, index)
  let reasons = ''
  if (index.partialFilter !== null) reasons += ' Index key is partial.'
  if (index.sparse) reasons += ' Index key is sparse.'
  if (index.multikey && fits && !index.sparse && index.partialFilter === null) reasons += ' Index key is multikey.'
  if (index.collation !== null) reasons += ' Index has a non-simple collation.'
  if (!fits) reasons += ' Shard key is not a prefix of index key.'
  return reasons
}

export interface ShardKeyRequirement {
  readonly behaviours: Behaviours
  readonly collection: Collection | undefined
  readonly ns: string
  readonly shardKey: ShardKeyPattern
  /** The index must be unique and on exactly the key. */
  readonly unique: boolean
}

/**
 * @param reasons receives why indexes do not support the key
 * @throws CommandError 72 InvalidOptions for a unique index that the key does not allow; 96
 *   OperationFailed until 4.4 for a partial or multikey index
 */
export function hasShardKeyIndex(requirement: ShardKeyRequirement, reasons: { text: string } = { text: '' }): boolean {
  const { behaviours, collection, ns, shardKey, unique } = requirement
  const indexes = collection?.indexes() ?? []
  for (const index of indexes) {
    const isUnique =
      index.unique ||
      (behaviours.prepareUniqueCountsAsUnique && findField(index.spec, 'prepareUnique')?.isTruthy() === true)
    if (isUnique && !shardKey.allowsUniqueIndex(index.key))
      throw new CommandError(
        'InvalidOptions',
        `can't shard collection '${ns}' with unique index on ${formatDocument(index.key)} and proposed shard key ${formatDocument(shardKey.document)}. Uniqueness can't be maintained unless shard key is a prefix`,
      )
  }
  let found = false
  for (const index of indexes) {
    if (index.collation === null && !index.sparse && isPrefix(shardKey.document, index)) {
      // Partial indexes are rejected below, as on the server.
      found = true
    }
    const flaws = `${index.sparse ? ' Index key is sparse.' : ''}${index.collation === null ? '' : ' Index has a non-simple collation.'}`
    if (flaws !== '') reasons.text = ` Index ${index.name} cannot be used for sharding because [${flaws} ]`
  }
  if (found && unique) {
    const exact = indexes.find(
      (index) => isPrefix(shardKey.document, index) && index.pattern.length === shardKey.fields.length,
    )
    if (exact === undefined) found = false
    else if (!exact.unique && exact.pattern[0]!.path !== '_id')
      throw new CommandError(
        'InvalidOptions',
        `can't shard collection ${ns}, ${formatDocument(shardKey.document)} index not unique, and unique index explicitly specified`,
      )
  }
  if (found) {
    const problem = shardingIndexProblem(behaviours, collection, shardKey.document)
    if (problem !== null) throw new CommandError(behaviours.unsuitableShardKeyIndexCode, problem)
  }
  return found
}

/**
 * The index that the server builds: named by its pattern, unique if requested, with the simple
 * collation; null: none has to be built.
 * @throws CommandError as createIndexes: 85, 86 for a conflicting index, 67
 */
export function newShardKeyIndex(requirement: ShardKeyRequirement): Uint8Array | null {
  const { behaviours, collection, ns, shardKey, unique } = requirement
  const { language, defaultIndexVersion: defaultVersion } = behaviours
  const spec = new DocumentWriter(128).document('key', shardKey.document).string('name', shardKey.indexName)
  if (collection !== undefined && collection.defaultCollation !== null)
    spec.int32('v', 2).startDocument('collation').string('locale', 'simple').end()
  if (unique && !shardKey.isId) spec.bool('unique', true)
  return prepareIndex(collection ?? { ns, indexes: () => [] }, spec.finish(), { language, defaultVersion })
}
