import type { ClientSession, Collection, Document } from 'mongodb'
import { PortError, type Clock, type Fields, type PortErrorKind, type ReadablePort } from '../core/port.js'
import type { Proxy } from '../core/proxy.js'

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
export interface DriverError extends Error {
  readonly code?: unknown
  hasErrorLabel?(label: string): boolean
}

export const hasLabel = (error: unknown, label: string): boolean =>
  error instanceof Error && (error as DriverError).hasErrorLabel?.(label) === true

/** Errors that the server has answered. */
export const isServerError = (error: unknown): error is DriverError =>
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

export function inSession(
  proxies: readonly Proxy[],
  collections: ReadonlyMap<string, AnyCollection>,
  session: ClientSession,
): Proxy[] {
  return proxies.map((proxy) => ({ ...proxy, port: driverPort(collections.get(proxy.name)!, session) }))
}
