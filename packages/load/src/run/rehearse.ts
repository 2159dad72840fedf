/**
 * Tries reads with user-defined conditions or stages once, so that an error of the server blames
 * the workload file.
 */
import { MongoServerError } from 'mongodb'
import { messageOf, OptionError } from '../option-error.js'
import { actionOf } from '../workload/action.js'
import type { Workload } from '../workload/workload.js'
import type { Control } from './control.js'

/** @throws OptionError that names the rejected operation */
export async function rehearse({ client }: Control, workload: Workload): Promise<void> {
  const collection = client.db(workload.database).collection(workload.collection)
  for (const operation of workload.operations) {
    if (operation.filter === null && operation.pipeline.length === 0 && operation.sort === null) continue
    const action = actionOf(workload, { cycle: 0, operation, key: 0, field: 0, limit: 1, keys: [] })
    try {
      if (action.kind === 'find')
        await collection
          .find(action.filter, action.sort === null ? {} : { sort: action.sort })
          .limit(1)
          .toArray()
      else if (action.kind === 'count')
        await client.db(workload.database).command({ count: workload.collection, query: action.filter })
      else if (action.kind === 'aggregate') await collection.aggregate([...action.pipeline]).toArray()
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error
      throw new OptionError(`operations.${operation.name}: the server refuses it: ${messageOf(error)}`)
    }
  }
}
