/**
 * Definitions that exist already. The server checks this under an intent lock, for which no
 * transaction is in the way. Server: create_collection.cpp, create_indexes.cpp.
 */
import { CommandError } from '@shardlab/bson'
import { prepareIndex, type Collection } from '@shardlab/storage'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'

/** Whether the command finds everything that it would create. */
export function createsNothing(name: string, { host, args, db }: NodeInvocation): boolean {
  if (!host.behaviours.createTakesIntentLocks) return false
  const ns = args.namedCollection(db)
  const collection = ns === null ? undefined : host.collection(ns)
  if (collection === undefined) return false
  if (name === 'create') return true
  return name === 'createIndexes' && args.documents('indexes')!.every((spec) => exists(host, ns!, collection, spec))
}

function exists({ behaviours }: NodeHost, ns: string, collection: Collection, spec: Uint8Array): boolean {
  const { language, partialFilterOrAndIn, defaultIndexVersion: defaultVersion } = behaviours
  const known = { ns, defaultCollation: collection.defaultCollation, indexes: () => collection.indexes() }
  try {
    return prepareIndex(known, spec, { language, partialFilterOrAndIn, defaultVersion }) === null
  } catch (error) {
    // The command itself reports it.
    if (error instanceof CommandError) return true
    throw error
  }
}
