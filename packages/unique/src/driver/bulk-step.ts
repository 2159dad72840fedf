import type {
  AnyBulkWriteOperation,
  DeleteOptions,
  DeleteResult,
  Document,
  Filter,
  InsertOneOptions,
  InsertOneResult,
  OptionalUnlessRequiredId,
  ReplaceOptions,
  UpdateFilter,
  UpdateOptions,
  UpdateResult,
  WithoutId,
} from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'
import type { DocumentChanges } from './document-changes.js'
import type { UniqueBulkWriteResult } from './results.js'

export interface SingleWrites<TSchema extends Document> {
  insertOne(document: OptionalUnlessRequiredId<TSchema>, options: InsertOneOptions): Promise<InsertOneResult<TSchema>>
  updateOne(
    filter: Filter<TSchema>,
    update: UpdateFilter<TSchema> | Document[],
    options: UpdateOptions,
  ): Promise<UpdateResult<TSchema>>
  updateMany(
    filter: Filter<TSchema>,
    update: UpdateFilter<TSchema> | Document[],
    options: UpdateOptions,
  ): Promise<UpdateResult<TSchema>>
  replaceOne(
    filter: Filter<TSchema>,
    replacement: WithoutId<TSchema>,
    options: ReplaceOptions,
  ): Promise<UpdateResult<TSchema>>
  deleteOne(filter: Filter<TSchema>, options: DeleteOptions): Promise<DeleteResult>
  deleteMany(filter: Filter<TSchema>, options: DeleteOptions): Promise<DeleteResult>
}

/** @throws RefusedOperationError at once, before any operation runs */
export function bulkStep<TSchema extends Document>(
  collection: SingleWrites<TSchema>,
  changes: DocumentChanges<TSchema>,
  operation: AnyBulkWriteOperation<TSchema>,
  options: Document,
  check: (options: Document) => void,
): (result: UniqueBulkWriteResult, index: number) => Promise<void> {
  const [[name, given]] = Object.entries(operation) as [[string, Document]]
  const { filter, update, replacement, document, ...own } = given
  const all = { ...options, ...own }
  check(all)
  const count = ({ matchedCount, modifiedCount }: UpdateResult<TSchema>, result: UniqueBulkWriteResult): void => {
    result.matchedCount += matchedCount
    result.modifiedCount += modifiedCount
  }
  const remove = ({ deletedCount }: DeleteResult, result: UniqueBulkWriteResult): void => {
    result.deletedCount += deletedCount
  }
  switch (name) {
    case 'insertOne':
      return async (result, index) => {
        result.insertedIds[index] = (await collection.insertOne(document, options)).insertedId
        result.insertedCount++
      }
    case 'updateOne':
      changes.planOf(update)
      return async (result) => count(await collection.updateOne(filter, update, all), result)
    case 'updateMany':
      changes.refuseMany(update)
      return async (result) => count(await collection.updateMany(filter, update, all), result)
    case 'replaceOne':
      changes.replacementPlan(replacement)
      return async (result) => count(await collection.replaceOne(filter, replacement, all), result)
    case 'deleteOne':
      return async (result) => remove(await collection.deleteOne(filter, all), result)
    case 'deleteMany':
      return async (result) => remove(await collection.deleteMany(filter, all), result)
    default:
      throw new RefusedOperationError(
        `unknown operation of bulkWrite: ${name}; use insertOne, updateOne, updateMany, replaceOne, deleteOne or deleteMany`,
      )
  }
}
