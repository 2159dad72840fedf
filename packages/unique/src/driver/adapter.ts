import type { ClientSession, Collection, Document, MongoClient } from 'mongodb'
import { PortError, type Clock, type Fields, type PortErrorKind, type ReadablePort } from '../core/port.js'
import type { Proxy } from '../core/proxy.js'
import type { Transactions, TransactionScope } from '../core/world.js'

export interface AnyDocument extends Document {
  _id: unknown
}

export type AnyCollection = Collection<AnyDocument>

/** With a session, the port works inside its transaction. */
export function driverPort(collection: AnyCollection, session?: ClientSession): ReadablePort {
  const inSession = session === undefined ? {} : { session }
  return {
    insertOne: async (document) =>
      void (await withPortErrors(() => collection.insertOne(document as AnyDocument, inSession))),
    findOne: (filter, options) =>
      withPortErrors(() => collection.findOne(filter, { ...options, ...inSession })) as Promise<Fields | null>,
    updateOne: async (filter, update, options) =>
      (await withPortErrors(() => collection.updateOne(filter, update, { ...options, ...inSession }))).matchedCount,
    deleteOne: async (filter, options) =>
      (await withPortErrors(() => collection.deleteOne(filter, { ...options, ...inSession }))).deletedCount,
    findOneAndUpdate: (filter, update, options) =>
      withPortErrors(() =>
        collection.findOneAndUpdate(filter, update, {
          ...options,
          ...inSession,
          returnDocument: 'after',
          includeResultMetadata: false,
        }),
      ) as Promise<Fields | null>,
    find: (filter, options) => withPortErrorsOf(collection.find(filter, { ...options, ...inSession })),
  }
}

async function* withPortErrorsOf(documents: AsyncIterable<Document>): AsyncIterable<Fields> {
  try {
    yield* documents
  } catch (error) {
    throw new PortError(kindOfDriverError(error), error instanceof Error ? error.message : String(error), error)
  }
}

export async function withPortErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw new PortError(kindOfDriverError(error), error instanceof Error ? error.message : String(error), error)
  }
}

/**
 * Codes after which the outcome is unknown: elections, shutdowns, timeouts, unreachable shards.
 * Manual: the errors that make a write retryable; server: `error_codes.yml`.
 */
const uncertainCodes: ReadonlySet<number> = new Set([
  6, 7, 24, 43, 46, 50, 64, 79, 89, 91, 100, 133, 134, 175, 189, 202, 262, 317, 358, 384, 9001, 10107, 11600, 11601,
  11602, 13388, 13435, 13436,
])

const duplicateCodes: ReadonlySet<number> = new Set([11000, 11001, 12582])

/**
 * The fields of the driver's errors. Names instead of classes, because the collection may belong to
 * another copy of the driver than this package.
 */
interface DriverError extends Error {
  readonly code?: unknown
  hasErrorLabel?(label: string): boolean
}

const hasLabel = (error: unknown, label: string): boolean =>
  error instanceof Error && (error as DriverError).hasErrorLabel?.(label) === true

/** Errors that the server has answered. */
const isServerError = (error: unknown): error is DriverError =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && 'hasErrorLabel' in error

function kindOfDriverError(error: unknown): PortErrorKind {
  if (error instanceof Error && error.name === 'MongoWriteConcernError') return 'unknown'
  if (isServerError(error)) {
    const code = Number(error.code)
    if (duplicateCodes.has(code)) return 'duplicate'
    return uncertainCodes.has(code) || hasLabel(error, 'RetryableWriteError') ? 'unknown' : 'refused'
  }
  // The driver does not send invalid arguments, nor values that are not BSON.
  if (error instanceof Error && (error.name === 'MongoInvalidArgumentError' || error.name.startsWith('BSON')))
    return 'refused'
  return 'unknown'
}

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
  after: (durationMs, run) => {
    const timer = setTimeout(run, durationMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/**
 * Codes with which a deployment refuses transactions: a standalone server (20), a storage engine
 * without them (263), a server that does not know the arguments (9, 72, 40415). Other errors share
 * these codes, so the message is checked, too.
 */
const refusalCodes: ReadonlySet<number> = new Set([9, 20, 72, 115, 263, 40415])

const isRefusedByServer = (error: unknown): boolean =>
  isServerError(error) && refusalCodes.has(Number(error.code)) && /transaction|txn|autocommit/i.test(error.message)

/** @param scopeOf binds ports to the session of a transaction */
export function driverTransactions(
  client: MongoClient,
  scopeOf: (session: ClientSession) => TransactionScope,
): Transactions {
  return {
    async run(body) {
      const session = client.startSession()
      // Driver 5 does not return the result of the callback.
      let result: { value: Awaited<ReturnType<typeof body>> } | null = null
      try {
        await session.withTransaction(
          async () => {
            try {
              result = { value: await body(scopeOf(session)) }
            } catch (error) {
              // The driver retries transactions by the labels of its own errors.
              const cause = error instanceof PortError ? error.cause : undefined
              if (hasLabel(cause, 'TransientTransactionError')) throw cause
              if (isRefusedByServer(cause)) throw new Refused(cause as Error)
              throw error
            }
          },
          { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } },
        )
        return { refused: false, result: result!.value }
      } catch (error) {
        if (error instanceof Refused || isRefusal(error)) return { refused: true }
        throw error
      } finally {
        await session.endSession()
      }
    },
  }
}

class Refused extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** Whether the driver itself has refused the transaction, for lack of support in the deployment. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === 'MongoCompatibilityError' && /transaction/i.test(error.message)

export function inSession(
  proxies: readonly Proxy[],
  collections: ReadonlyMap<string, AnyCollection>,
  session: ClientSession,
): Proxy[] {
  return proxies.map((proxy) => ({ ...proxy, port: driverPort(collections.get(proxy.name)!, session) }))
}
