/** Parts of the driver whose types differ between its versions. */
import { ObjectId, type Collection, type Db, type Document, type MongoClient } from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'

/** In the types of driver 6 and later; all supported versions have the properties. */
interface WithHandles {
  readonly db?: Db
  readonly client?: MongoClient
}

/** @throws RefusedOperationError for an object that is not a collection of the driver */
export function databaseOf<TSchema extends Document>(collection: Collection<TSchema>): Db {
  const { db, client } = (collection ?? {}) as unknown as WithHandles
  const found = db ?? client?.db(collection.dbName)
  if (found === undefined || typeof collection.collectionName !== 'string')
    throw new RefusedOperationError(
      'the first argument is not a collection of the mongodb driver 5.9 or later: use client.db(name).collection(name)',
    )
  return found
}

export const clientOf = (db: Db): MongoClient => (db as unknown as { readonly client: MongoClient }).client

/**
 * An `_id` from the collection's own driver and its `pkFactory`. The driver adds it to a document
 * of a bulk write that is never sent.
 */
export function newId<TSchema extends Document>(collection: Collection<TSchema>): unknown {
  const document: Document = {}
  collection.initializeUnorderedBulkOp({ forceServerObjectId: false }).insert(document)
  return document['_id'] ?? new ObjectId()
}

/** @throws RefusedOperationError when the driver would refuse the values of this package */
export function checkSameBson<TSchema extends Document>(collection: Collection<TSchema>): void {
  try {
    collection.initializeUnorderedBulkOp().insert({ _id: new ObjectId() })
  } catch (error) {
    if (!(error instanceof Error && error.name === 'BSONVersionError')) throw error
    throw new RefusedOperationError(
      `the collection belongs to another major version of the mongodb driver than the one that @shardlab/unique imports: install one version of mongodb (${error.message})`,
    )
  }
}
