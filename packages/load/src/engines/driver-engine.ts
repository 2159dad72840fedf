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
import { nowUs } from '../run/clock.js'
import { clientOptions } from '../run/control.js'
import { actionOf, type Action } from '../workload/action.js'
import type { Plan } from '../workload/schedule.js'
import type { Workload } from '../workload/workload.js'
import { failedWith, succeeded, type Engine, type EngineOptions, type OperationResult } from './engine.js'
import { TransactionStatistics } from './transaction-statistics.js'

type AnyCollection = Collection<{ _id: unknown }>

export class DriverEngine implements Engine {
  readonly #workload: Workload
  readonly #client: MongoClient
  readonly #collection: AnyCollection
  readonly transactions: TransactionStatistics | null
  /** Start of each commit that has no reply, by request id. */
  readonly #commitsSinceUs = new Map<number, number>()
  #failedCommands = 0
  #failedOperations = 0

  private constructor(workload: Workload, client: MongoClient) {
    this.#workload = workload
    this.#client = client
    this.transactions = workload.operations.some(({ transaction }) => transaction !== null)
      ? new TransactionStatistics()
      : null
    this.#collection = client.db(workload.database).collection(workload.collection)
    client.on('commandFailed', ({ commandName, requestId }) => {
      // The driver also aborts transactions that the server has aborted.
      if (commandName !== 'abortTransaction') this.#failedCommands++
      this.#commitsSinceUs.delete(requestId)
    })
    if (this.transactions !== null) this.#watchCommits(client, this.transactions)
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

  #watchCommits(client: MongoClient, statistics: TransactionStatistics): void {
    client.on('commandStarted', ({ commandName, requestId }) => {
      if (commandName === 'commitTransaction') this.#commitsSinceUs.set(requestId, nowUs())
    })
    client.on('commandFailed', ({ commandName, failure }) => {
      // Other errors of a commit are either retried or leave its outcome unknown.
      if (commandName === 'commitTransaction' && hasLabel(failure, 'TransientTransactionError'))
        statistics.noteAbort(errorOf(failure))
    })
    client.on('commandSucceeded', ({ requestId }) => {
      const sinceUs = this.#commitsSinceUs.get(requestId)
      if (sinceUs === undefined) return
      this.#commitsSinceUs.delete(requestId)
      statistics.noteCommit(nowUs() - sinceUs)
    })
  }

  /** @returns 0 if a record was not found, else 1 */
  async #transact({ reads, updates }: Extract<Action, { kind: 'transaction' }>): Promise<number> {
    const statistics = this.transactions!
    const collection = this.#collection
    let runs = 0
    let found = 1
    const session = this.#client.startSession()
    try {
      await session.withTransaction(
        async () => {
          if (runs++ > 0) statistics.noteRetry()
          found = 1
          try {
            for (const filter of reads) if ((await collection.findOne(filter, { session })) === null) found = 0
            for (const { filter, set } of updates)
              if ((await collection.updateOne(filter, { $set: set }, { session })).matchedCount === 0) found = 0
          } catch (error) {
            statistics.noteAbort(errorOf(error))
            throw error
          }
        },
        { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } },
      )
      statistics.noteCommitted()
      return found
    } finally {
      await session.endSession()
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
      case 'transaction':
        return this.#transact(action)
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
  return failedWith(errorOf(error), isNetworkError || !(error instanceof MongoError))
}

const hasLabel = (error: unknown, label: string): boolean => error instanceof MongoError && error.hasErrorLabel(label)

function errorOf(error: unknown): string {
  if (error instanceof MongoServerError) return codeText(error.code, error.codeName ?? null)
  if (!(error instanceof Error)) return String(error)
  // Of the operating system, as ECONNRESET.
  return error.name === 'Error' ? ((error as NodeJS.ErrnoException).code ?? error.message) : error.name
}

export function codeText(code: unknown, codeName: string | null): string {
  if (typeof code !== 'number') return 'an error without a code'
  return `${codeName ?? errorCodeName(code) ?? 'Location'} ${code}`
}
