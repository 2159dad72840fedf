import type { RunningOperation } from '@shardlab/member'
import type { Collection } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { inTurns, type SteppedWork } from './in-turns.js'

/** So many documents may lack keys when a plan is made, which adds them at once. */
const documentsMax = 16_384

/**
 * Indexes add the keys of inserted documents when they are read (decision 0019). After many inserts
 * this takes several turns, and the caller must enter the collection again.
 * @returns null: there is little to add
 */
export function catchUpKeys(
  host: NodeHost,
  operation: RunningOperation,
  collection: Collection | undefined,
): Promise<void> | null {
  if (collection === undefined || collection.documentsWithoutKeys <= documentsMax) return null
  return inTurns(host, operation, stepsOf(host, collection))
}

function* stepsOf(host: NodeHost, collection: Collection): SteppedWork<void> {
  const { ns } = collection
  for (let added = collection.addKeys(); added > 0; added = collection.addKeys()) {
    yield added
    if (host.collection(ns) !== collection) return
  }
}
