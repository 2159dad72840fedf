/** `local.system.replset`, as clients of a member read it. */
import { listingOf, type Collection } from '@shardlab/storage'
import type { ReplicaSet } from './replica-set.js'

const ns = 'local.system.replset'

/** Undefined: another collection, or a set that was not initiated. */
export function configCollection(set: ReplicaSet, name: string): Collection | undefined {
  if (name !== ns) return undefined
  const { config } = set
  return config === null ? undefined : listingOf(ns, new Uint8Array(16), [config])
}
