import type { RunningOperation } from '@shardlab/member'
import type { Collection } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { inTurns, type SteppedWork } from './in-turns.js'

/** So many documents may lack keys when a plan or a snapshot is made, which adds them at once. */
const documentsMax = 16_384

/**
 * Indexes add the keys of inserted documents when they are read (decision 0019). After many inserts
 * this takes several turns, and the caller must enter the collection again.
 * @param operation null: background work
 * @returns null: there is little to add
 */
export function catchUpKeys(
  host: NodeHost,
  operation: RunningOperation | null,
  collection: Collection | undefined,
): Promise<void> | null {
  if (collection === undefined || collection.documentsWithoutKeys <= documentsMax) return null
  return inTurns(host, operation, addKeys(host, collection))
}

/** The same as a part of other work. */
export function* addKeys(host: NodeHost, collection: Collection): SteppedWork<void> {
  if (collection.documentsWithoutKeys <= documentsMax) return
  const { ns } = collection
  for (let added = collection.addKeys(); added > 0; added = collection.addKeys()) {
    yield added
    if (host.collection(ns) !== collection) return
  }
}
