/** Commands of clients, and the collections that they read and write. */
import { parseSpec, PortError, type Fields, type PortErrorKind } from '@shardlab/unique'
import { MemoryCollection, type UniqueKey } from '../memory.js'
import type { Layout } from '../story.js'

export type Method = 'insertOne' | 'findOne' | 'updateOne' | 'deleteOne' | 'findOneAndUpdate' | 'find'

export interface Command {
  /** `sleep` only takes time. */
  readonly method: Method | 'sleep' | 'commit' | 'abort'
  readonly collection: 'main' | 'proxy'
  readonly args: readonly unknown[]
  /** The client in whose transaction it runs; undefined: in none. */
  readonly txn?: number
  /** The transaction runs again after a conflict, which comes again while the rival is open. */
  readonly isRetry?: boolean
}

/** `conflict`: the server has aborted the transaction, and asks for another attempt. */
export type Reply = { readonly value: unknown } | { readonly error: PortErrorKind | 'conflict' }

export interface Documents extends Contents {
  /** By client; absent: no transaction is open. */
  readonly open?: Readonly<Record<number, OpenTransaction>>
}

export interface Contents {
  readonly main: readonly Fields[]
  readonly proxy: readonly Fields[]
}

export interface OpenTransaction {
  readonly snapshot: Contents
  /** The snapshot with its own writes. */
  readonly own: Contents
  /** That it has written. */
  readonly keys: readonly string[]
}

export const spec = parseSpec('email')

export const mainKeys: readonly UniqueKey[] = [{ fields: ['_id'], sparse: false }]
export const proxyKeys: Readonly<Record<Layout, readonly UniqueKey[]>> = {
  sharded: [{ fields: ['email'], sparse: false }],
  unsharded: [
    { fields: ['_id'], sparse: false },
    { fields: ['email'], sparse: true },
  ],
}

export function collectionOf(layout: Layout, name: 'main' | 'proxy', documents: readonly Fields[]): MemoryCollection {
  const collection = new MemoryCollection(name, name === 'main' ? mainKeys : proxyKeys[layout])
  collection.documents = [...documents]
  return collection
}

export function run(collection: MemoryCollection, { method, args }: Command): Reply {
  try {
    const call = collection[method as Method] as (...args: readonly unknown[]) => unknown
    return { value: call.apply(collection, args as unknown[]) ?? null }
  } catch (error) {
    if (error instanceof PortError) return { error: error.kind }
    throw error
  }
}
