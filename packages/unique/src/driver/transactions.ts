import type { ClientSession, Db, Document, MongoClient } from 'mongodb'
import { causeOf, kindOf, PortError } from '../core/port.js'
import { repeated, type Transactions, type TransactionScope } from '../core/world.js'
import { hasLabel, isServerError, realClock, withPortErrors } from './adapter.js'

/**
 * Why a deployment has no transactions, from its reply to `hello`; null: it has them. Manual:
 * core/transactions
 */
export function withoutTransactionsBecause(hello: Document): string | null {
  const wireVersion = Number(hello['maxWireVersion'])
  if (hello['msg'] === 'isdbgrid') return wireVersion >= 8 ? null : 'sharded clusters have transactions since 4.2'
  if (hello['setName'] === undefined) return 'a server without a replica set has no transactions'
  return wireVersion >= 7 ? null : 'replica sets have transactions since 4.0'
}

/**
 * Codes with which a deployment refuses transactions: a standalone server (20), a storage engine
 * without them (115), a server that does not know the arguments (9, 72, 40415). Other errors share
 * these codes, so the message is checked, too.
 */
const refusalCodes: ReadonlySet<number> = new Set([9, 20, 72, 115, 40415])

/** OperationNotSupportedInTransaction: the collection does not exist, and is not created here. */
const notInTransactionCode = 263
const namespaceExistsCode = 48
const noSuchTransactionCode = 251

const codeOf = (error: unknown): number | null => (isServerError(error) ? Number(error.code) : null)

const isRefusedByServer = (error: unknown): error is Error =>
  refusalCodes.has(codeOf(error) ?? -1) && /transaction|txn|autocommit/i.test((error as Error).message)

/**
 * Only of commits, which the driver has repeated for two minutes. A shard that knows no such
 * transaction (251) omits the label `TransientTransactionError` if the write concern has failed:
 * the transaction may have committed on another primary.
 */
const hasUnknownOutcome = (error: unknown): boolean =>
  hasLabel(error, 'UnknownTransactionCommitResult') ||
  (codeOf(error) === noSuchTransactionCode && !hasLabel(error, 'TransientTransactionError'))

/** Whether the driver itself has refused the transaction, for lack of support in the deployment. */
const isRefusedByDriver = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'MongoCompatibilityError' && /transaction/i.test(error.message)

/**
 * @param scopeOf binds ports to the session of a transaction
 * @param main created when the first transaction finds that it does not exist: until 4.2, and
 * across shards, a transaction cannot create a collection
 */
export function driverTransactions(
  client: MongoClient,
  scopeOf: (session: ClientSession) => TransactionScope,
  main: { readonly db: Db; readonly name: string },
): Transactions {
  const inTransaction = async <T>(body: (scope: TransactionScope) => Promise<T>): Promise<T> => {
    const session = client.startSession()
    // Driver 5 does not return the result of the callback.
    let result: { value: T } | null = null
    try {
      await session.withTransaction(
        async () => {
          try {
            result = { value: await body(scopeOf(session)) }
          } catch (error) {
            // The driver retries transactions by the labels of its own errors.
            const cause = error instanceof PortError ? error.cause : undefined
            throw hasLabel(cause, 'TransientTransactionError') ? cause : error
          }
        },
        { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } },
      )
      return result!.value
    } catch (error) {
      if (hasUnknownOutcome(error)) throw new PortError('unknown', (error as Error).message, error)
      throw error
    } finally {
      await session.endSession()
    }
  }
  return {
    async run(body) {
      for (let isRepeated = false; ; isRepeated = true) {
        try {
          return { refused: null, result: await inTransaction(body) }
        } catch (error) {
          const cause = causeOf(error)
          if (isRefusedByDriver(cause) || isRefusedByServer(cause)) return { refused: cause.message }
          if (isRepeated || codeOf(cause) !== notInTransactionCode || !(await create(main))) throw error
        }
      }
    },
    async within(callerSession, body) {
      const session = callerSession as ClientSession
      try {
        return await body(scopeOf(session))
      } catch (error) {
        await endTransaction(client, session, causeOf(error))
        throw error
      }
    },
  }
}

/**
 * Ends the caller's transaction after an error that the server does not know, such as a duplicate
 * that this library has found: its commit would store reservations without their document. The
 * session stays in the transaction, as after a duplicate key error, so the commit fails and later
 * statements do not run outside of it. If the server may not know of the end, the driver ends the
 * transaction, too: it refuses the commit itself, and later statements need a new transaction.
 */
async function endTransaction(client: MongoClient, session: ClientSession, error: unknown): Promise<void> {
  // With this label the driver forgets which router knows the transaction.
  if (!hasLabel(error, 'TransientTransactionError')) {
    if (isServerError(error) || (await hasEndedOnServer(client, session))) return
  }
  if (session.inTransaction()) await session.abortTransaction()
}

/** @returns false: perhaps not */
async function hasEndedOnServer(client: MongoClient, session: ClientSession): Promise<boolean> {
  const abort = (): Promise<Document> =>
    withPortErrors(() => client.db('admin').command({ abortTransaction: 1 }, { session }))
  try {
    await repeated(realClock, abort)
    return true
  } catch (error) {
    // It has ended before, or the server does not answer. The caller gets the first error.
    return kindOf(error) === 'refused'
  }
}

/** @returns false: the collection existed */
async function create({ db, name }: { readonly db: Db; readonly name: string }): Promise<boolean> {
  try {
    await db.createCollection(name)
    return true
  } catch (error) {
    if (codeOf(error) === namespaceExistsCode) return false
    throw error
  }
}
