/** One operation of a bulkWrite, by the method that does it alone. */
import type { AnyBulkWriteOperation, DeleteResult, Document, UpdateResult } from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'
import type { DocumentChanges } from './document-changes.js'
import { checkChange } from './refusals.js'
import type { UniqueBulkWriteResult } from './results.js'
import type { UniqueCollection } from './unique-collection.js'

/** @throws RefusedOperationError at once, not when it is done */
export function bulkStep<TSchema extends Document>(
  users: UniqueCollection<TSchema>,
  changes: DocumentChanges<TSchema>,
  operation: AnyBulkWriteOperation<TSchema>,
  options: Document,
): (result: UniqueBulkWriteResult, index: number) => Promise<void> {
  const [[name, given]] = Object.entries(operation) as [[string, Document]]
  const { filter, update, replacement, document, ...own } = given
  const all = { ...options, ...own }
  checkChange(all)
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
        result.insertedIds[index] = (await users.insertOne(document, options)).insertedId
        result.insertedCount++
      }
    case 'updateOne':
      changes.planOf(update)
      return async (result) => count(await users.updateOne(filter, update, all), result)
    case 'updateMany':
      changes.refuseMany(update)
      return async (result) => count(await users.updateMany(filter, update, all), result)
    case 'replaceOne':
      changes.replacementPlan(replacement)
      return async (result) => count(await users.replaceOne(filter, replacement, all), result)
    case 'deleteOne':
      return async (result) => remove(await users.deleteOne(filter, all), result)
    case 'deleteMany':
      return async (result) => remove(await users.deleteMany(filter, all), result)
    default:
      throw new RefusedOperationError(`bulkWrite has no operation ${name}`)
  }
}
