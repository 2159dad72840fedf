import type { CommandRow } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareDocuments,
  DocumentWriter,
  elementsOf,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument, formatValue } from '@shardlab/query'
import { isIdKey, type Collection, type Index } from '@shardlab/storage'
import { uuidText, dropIndexesSpec } from '@shardlab/member'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { dropIndex } from '../ddl/index-specs.js'
import { viewOf } from '../views/view-catalog.js'
import type { Access, NodeInvocation } from '../host/node-host.js'

export const dropIndexes: CommandRow<NodeInvocation> = {
  ...dropIndexesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D607'],
  summary: 'Drops indexes by name or key pattern, or all except the _id index.',
  async run(invocation) {
    invocation.host.requireRoom()
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const access = await host.role.enter(ns, invocation)
    checkCollectionUuid(host, ns, args)
    const collection = host.collection(ns)
    if (collection === undefined) {
      if (viewOf(host, ns) !== null)
        throw new CommandError('CommandNotSupportedOnView', `Cannot drop indexes on view ${ns}`)
      throw new CommandError('NamespaceNotFound', `ns not found ${ns}`)
    }
    host.role.checkDefinitionChange?.(ns)
    const countBefore = collection.indexes().length
    const argument = args.value('index')!
    const writer = new DocumentWriter(128).int32('nIndexesWas', countBefore)
    if (argument.type === BsonType.string && argument.asString() === '*') {
      const rules = host.role.indexRules
      const dropped = collection
        .indexes()
        .filter((index) => !isIdKey(index.key) && rules?.keeps(access, collection, index) !== true)
      for (const index of dropped) dropIndex(host, collection, index.name)
      writer.string(
        'msg',
        rules?.protects(access, ns) === true
          ? 'non-_id indexes and non-shard key indexes dropped for collection'
          : 'non-_id indexes dropped for collection',
      )
    } else {
      // Find and check all indexes before dropping the first.
      const dropped = indexesOf(collection, argument)
      if (collection.clustered && dropped.some((index) => isIdKey(index.key)))
        throw new CommandError(5979800, 'It is illegal to drop the clusteredIndex')
      if (dropped.some((index) => isIdKey(index.key))) throw new CommandError('InvalidOptions', 'cannot drop _id index')
      checkShardKeyKeepsIndex(invocation, access, collection, dropped)
      for (const index of dropped) dropIndex(host, collection, index.name)
    }
    await host.flush()
    return writer
  },
}

/** Checks the indexes in drop order. @throws CommandError 370 CannotDropShardKeyIndex */
function checkShardKeyKeepsIndex(
  { host }: NodeInvocation,
  access: Access,
  collection: Collection,
  dropped: readonly Index[],
): void {
  const gone = new Set<string>()
  for (const index of dropped) {
    if (host.role.indexRules?.isLast(access, collection, index, gone) === true)
      throw new CommandError(
        'CannotDropShardKeyIndex',
        "Cannot drop the only compatible index for this collection's shard key",
      )
    gone.add(index.name)
  }
}

/** @throws CommandError 27 IndexNotFound, 181 AmbiguousIndexKeyPattern, 14 TypeMismatch */
function indexesOf(collection: Collection, argument: RawValue): Index[] {
  switch (argument.type) {
    case BsonType.string:
      return [indexByName(collection, argument.asString())]
    case BsonType.object:
      return [indexByKey(collection, argument.slice())]
    case BsonType.array: {
      const names = elementsOf(argument).map((name) => {
        if (name.type === BsonType.string) return name.asString()
        throw new CommandError(
          'TypeMismatch',
          `dropIndexes ${collection.ns} (${uuidText(collection.uuid)}) failed to drop multiple indexes ${formatValue(argument)}: index name must be a string`,
        )
      })
      return [...new Set(names)].map((name) => indexByName(collection, name))
    }
    default:
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'dropIndexes.index' is the wrong type '${typeName(argument.type)}', expected types '[string, object]'`,
      )
  }
}

function indexByName(collection: Collection, name: string): Index {
  const index = collection.index(name)
  if (index === undefined) throw new CommandError('IndexNotFound', `index not found with name [${name}]`)
  return index
}

function indexByKey(collection: Collection, key: Uint8Array): Index {
  const found = collection.indexes().filter((index) => compareDocuments(index.key, key) === 0)
  if (found.length === 0) throw new CommandError('IndexNotFound', `can't find index with key: ${formatDocument(key)}`)
  if (found.length > 1) {
    throw new CommandError(
      'AmbiguousIndexKeyPattern',
      `${found.length} indexes found for key: ${formatDocument(key)}, identify by name instead. Conflicting indexes: ${formatDocument(found[0]!.spec)}, ${formatDocument(found[1]!.spec)}`,
    )
  }
  return found[0]!
}
