import { MongoClient } from 'mongodb'
import { RefusedOperationError } from '../core/errors.js'
import type { UniqueOptions } from './options.js'
import { uniqueCollection, type UniqueCollection } from './unique-collection.js'

/** The connection string is invalid, or no deployment answers. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

export interface ConnectedCollection {
  readonly collection: UniqueCollection
  close(): Promise<void>
}

/**
 * For programs without a client of their own.
 * @param ns `database.collection`
 * @throws UnreachableError, RefusedOperationError
 */
export async function connectUnique(uri: string, ns: string, options: UniqueOptions): Promise<ConnectedCollection> {
  const dot = ns.indexOf('.')
  if (dot <= 0 || dot === ns.length - 1)
    throw new RefusedOperationError(`the namespace '${ns}' is invalid: use database.collection`)
  let client: MongoClient
  try {
    client = new MongoClient(uri, { serverSelectionTimeoutMS: 10_000 })
    await client.connect()
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
    throw new UnreachableError(
      `cannot connect to ${withoutPassword(uri)} (${why}): start a server there, or correct the URI`,
      { cause: error },
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

/** Removes the password, because messages end up in logs. */
const withoutPassword = (uri: string): string => uri.replace(/^(\w+(?:\+srv)?:\/\/[^:@/]+):.*@/, '$1:***@')
