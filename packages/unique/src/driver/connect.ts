/** The library for programs that have a connection string and names, and no client of their own. */
import { MongoClient } from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'
import type { UniqueOptions } from './options.js'
import { uniqueCollection, type UniqueCollection } from './unique-collection.js'

/** Nobody answers at the connection string, or it is none. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

export interface ConnectedCollection {
  readonly collection: UniqueCollection
  close(): Promise<void>
}

/**
 * Connects to a deployment for one collection.
 * @param ns `database.collection`
 * @throws UnreachableError, RefusedOperationError
 */
export async function connectUnique(uri: string, ns: string, options: UniqueOptions): Promise<ConnectedCollection> {
  const dot = ns.indexOf('.')
  if (dot <= 0 || dot === ns.length - 1)
    throw new RefusedOperationError(`the namespace is '${ns}': it has to be database.collection`)
  let client: MongoClient
  try {
    client = new MongoClient(uri, { serverSelectionTimeoutMS: 10_000 })
    await client.connect()
  } catch (error) {
    throw new UnreachableError(
      `no deployment answers at ${withoutPassword(uri)}: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    )
  }
  try {
    const collection = uniqueCollection(client.db(ns.slice(0, dot)).collection(ns.slice(dot + 1)), options)
    return { collection, close: () => client.close() }
  } catch (error) {
    await client.close()
    throw error
  }
}

/** For messages, which end up in logs. */
const withoutPassword = (uri: string): string => uri.replace(/^(\w+(?:\+srv)?:\/\/[^:@/]+):.*@/, '$1:***@')
