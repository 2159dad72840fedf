/** `local.system.replset`, as clients of a member read it. */
import { listingOf, type Collection } from '@shardlab/storage'
import type { ReplicaSet } from './replica-set.js'

const ns = 'local.system.replset'

/** Undefined: another collection, a set of one member, or one that was not initiated. */
export function configCollection(set: ReplicaSet | null, name: string): Collection | undefined {
  if (set === null || name !== ns) return undefined
  const { storedConfig } = set
  return storedConfig === null ? undefined : listingOf(ns, new Uint8Array(16), [storedConfig])
}
