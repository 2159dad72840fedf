/** The official driver as applications use it: with its pool, sessions and retries. */
import {
  MongoBulkWriteError,
  MongoClient,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type Collection,
} from 'mongodb'
import { errorCodeName } from '@shardlab/bson'
import { clientOptions } from '../run/control.js'
import { actionOf, type Action } from '../workload/action.js'
import type { Plan } from '../workload/schedule.js'
import type { Workload } from '../workload/workload.js'
import { failedWith, succeeded, type Engine, type EngineOptions, type OperationResult } from './engine.js'

type AnyCollection = Collection<{ _id: unknown }>

export class DriverEngine implements Engine {
  readonly #workload: Workload
  readonly #client: MongoClient
  readonly #collection: AnyCollection
  #failedCommands = 0
  #failedOperations = 0

  private constructor(workload: Workload, client: MongoClient) {
    this.#workload = workload
    this.#client = client
    this.#collection = client.db(workload.database).collection(workload.collection)
    client.on('commandFailed', () => this.#failedCommands++)
  }

  static async connect(workload: Workload, { uri, concurrency }: EngineOptions): Promise<DriverEngine> {
    const client = new MongoClient(uri, { ...clientOptions(uri, concurrency), monitorCommands: true })
    try {
      await client.connect()
    } catch (error) {
      await client.close()
      throw error
    }
    return new DriverEngine(workload, client)
  }

  /** A failed command of an operation that succeeded was retried. */
  get retries(): number {
    return Math.max(0, this.#failedCommands - this.#failedOperations)
  }

  prepare(plan: Plan): Action {
    return actionOf(this.#workload, plan)
  }

  async send(prepared: unknown): Promise<OperationResult> {
    const action = prepared as Action
    const before = this.#failedCommands
    try {
      return succeeded(await this.#run(action))
    } catch (error) {
      if (this.#failedCommands > before) this.#failedOperations++
      return resultOf(error, action)
    }
  }

  async close(): Promise<void> {
    await this.#client.close(true)
  }

  async #run(action: Action): Promise<number> {
    const collection = this.#collection
    switch (action.kind) {
      case 'find': {
        if (action.limit === 1 && action.sort === null)
          return (await collection.findOne(action.filter)) === null ? 0 : 1
        const cursor = collection.find(action.filter, {
          limit: action.limit,
          ...(action.sort === null ? {} : { sort: action.sort }),
        })
        return (await cursor.toArray()).length
      }
      case 'count':
        return Number(
          (
            await this.#client
              .db(this.#workload.database)
              .command({ count: this.#workload.collection, query: action.filter })
          )['n'],
        )
      case 'aggregate':
        await collection.aggregate([...action.pipeline]).toArray()
        return -1
      case 'insert':
        if (action.documents.length === 1) await collection.insertOne(action.documents[0]!)
        else await collection.insertMany([...action.documents], { ordered: false })
        return -1
      case 'update': {
        if (action.readsFirst && (await collection.findOne(action.filter)) === null) return 0
        const { matchedCount } = await collection.updateOne(
          action.filter,
          { $set: action.set },
          { upsert: action.upsert },
        )
        return action.upsert ? -1 : matchedCount
      }
    }
  }
}

function resultOf(error: unknown, action: Action): OperationResult {
  const isNetworkError = error instanceof MongoNetworkError || error instanceof MongoServerSelectionError
  if (error instanceof MongoBulkWriteError && action.kind === 'insert' && !isNetworkError) {
    const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
    const failed = new Set(failures.map(({ index }) => index))
    // Without write errors the whole command failed.
    const written = failed.size === 0 ? null : action.documents.flatMap((_, i) => (failed.has(i) ? [] : [i]))
    return failedWith(codeText(failures[0]?.code ?? error.code, null), false, written)
  }
  if (error instanceof MongoServerError) return failedWith(codeText(error.code, error.codeName ?? null), false)
  if (error instanceof MongoError) return failedWith(error.name, isNetworkError)
  return failedWith(error instanceof Error ? error.name : String(error), true)
}

export function codeText(code: unknown, codeName: string | null): string {
  if (typeof code !== 'number') return 'an error without a code'
  return `${codeName ?? errorCodeName(code) ?? 'Location'} ${code}`
}
