import type { BulkWriteResult, Collection, Document, SearchIndexDescription } from 'mongodb'
import { optionsOf, returnDocumentOf, type Method, type OperationContext } from './arguments.js'
import { openCursor, openStream } from './client.js'

/** findAndModify methods: the argument `field` holds the modification. */
const findAndModify = (method: 'findOneAndUpdate' | 'findOneAndReplace', field: string): Method<Collection> => {
  return (collection, args, context) =>
    (collection[method] as (filter: Document, change: Document, options: Document) => Promise<unknown>)(
      args['filter'],
      args[field],
      {
        ...optionsOf(args, context, 'filter', field, 'returnDocument'),
        ...returnDocumentOf(args['returnDocument']),
      },
    )
}

export const collectionMethods: Readonly<Record<string, Method<Collection>>> = {
  aggregate: (collection, args, context) =>
    collection.aggregate(args['pipeline'], optionsOf(args, context, 'pipeline')).toArray(),
  bulkWrite: async (collection, args, context) => {
    const result = await collection.bulkWrite(args['requests'], optionsOf(args, context, 'requests'))
    return plainBulkWriteResult(result)
  },
  count: (collection, args, context) => collection.count(args['filter'], optionsOf(args, context, 'filter')),
  countDocuments: (collection, args, context) =>
    collection.countDocuments(args['filter'], optionsOf(args, context, 'filter')),
  createChangeStream: (collection, args, context) =>
    openStream(collection.watch(args['pipeline'], optionsOf(args, context, 'pipeline'))),
  createFindCursor: async (collection, args, context) => {
    const cursor = findOf(collection, args, context)
    await openCursor(cursor)
    return cursor
  },
  createIndex: (collection, args, context) => collection.createIndex(args['keys'], optionsOf(args, context, 'keys')),
  createSearchIndex: (collection, args) => collection.createSearchIndex(args['model'] as SearchIndexDescription),
  createSearchIndexes: (collection, args) => collection.createSearchIndexes(args['models'] as SearchIndexDescription[]),
  deleteMany: (collection, args, context) => collection.deleteMany(args['filter'], optionsOf(args, context, 'filter')),
  deleteOne: (collection, args, context) => collection.deleteOne(args['filter'], optionsOf(args, context, 'filter')),
  distinct: (collection, args, context) =>
    collection.distinct(args['fieldName'], args['filter'], optionsOf(args, context, 'fieldName', 'filter')),
  dropIndex: (collection, args, context) => collection.dropIndex(args['name'], optionsOf(args, context, 'name')),
  dropIndexes: (collection, args, context) => collection.dropIndexes(optionsOf(args, context)),
  dropSearchIndex: (collection, args) => collection.dropSearchIndex(args['name']),
  estimatedDocumentCount: (collection, args, context) => collection.estimatedDocumentCount(optionsOf(args, context)),
  find: (collection, args, context) => findOf(collection, args, context).toArray(),
  findOne: (collection, args, context) => collection.findOne(args['filter'], optionsOf(args, context, 'filter')),
  findOneAndDelete: (collection, args, context) =>
    collection.findOneAndDelete(args['filter'], optionsOf(args, context, 'filter')),
  findOneAndReplace: findAndModify('findOneAndReplace', 'replacement'),
  findOneAndUpdate: findAndModify('findOneAndUpdate', 'update'),
  insertMany: (collection, args, context) =>
    collection.insertMany(args['documents'], optionsOf(args, context, 'documents')),
  insertOne: (collection, args, context) =>
    collection.insertOne(args['document'], optionsOf(args, context, 'document')),
  listIndexes: (collection, args, context) => collection.listIndexes(optionsOf(args, context)).toArray(),
  listIndexNames: async (collection, args, context) => {
    const indexes = await collection.listIndexes(optionsOf(args, context)).toArray()
    return indexes.map(({ name }) => name as string)
  },
  listSearchIndexes: (collection, args) =>
    (args['name'] === undefined
      ? collection.listSearchIndexes(args['aggregationOptions'])
      : collection.listSearchIndexes(args['name'], args['aggregationOptions'])
    ).toArray(),
  rename: (collection, args, context) => collection.rename(args['to'], optionsOf(args, context, 'to')),
  replaceOne: (collection, args, context) =>
    collection.replaceOne(args['filter'], args['replacement'], optionsOf(args, context, 'filter', 'replacement')),
  updateMany: (collection, args, context) =>
    collection.updateMany(args['filter'], args['update'], optionsOf(args, context, 'filter', 'update')),
  updateOne: (collection, args, context) =>
    collection.updateOne(args['filter'], args['update'], optionsOf(args, context, 'filter', 'update')),
  updateSearchIndex: (collection, args) => collection.updateSearchIndex(args['name'], args['definition']),
}

function findOf(collection: Collection, args: Document, context: OperationContext) {
  const { cursorType, ...options } = optionsOf(args, context, 'filter')
  return collection.find(args['filter'] ?? {}, {
    ...options,
    ...(cursorType === 'tailable' || cursorType === 'tailableAwait' ? { tailable: true } : {}),
    ...(cursorType === 'tailableAwait' ? { awaitData: true } : {}),
  })
}

/** A result of a bulk write as a plain document. */
export function plainBulkWriteResult(result: BulkWriteResult | undefined): Document | undefined {
  if (result === undefined) return undefined
  const { insertedCount, matchedCount, modifiedCount, deletedCount, upsertedCount, insertedIds, upsertedIds } = result
  return { insertedCount, matchedCount, modifiedCount, deletedCount, upsertedCount, insertedIds, upsertedIds }
}
