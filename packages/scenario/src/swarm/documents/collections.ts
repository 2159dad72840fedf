import type { Document } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { SwarmPlan } from '../types.js'

/** Upper limit of field k. */
export const keysMax = 1000

export interface SwarmCollection {
  readonly name: string
  /** null: unsharded at first. */
  readonly key: Document | null
  /**
   * The primary shard of the database may change, which loses the retry history, as on the server.
   */
  readonly losesRetryHistory: boolean
}

const always: readonly SwarmCollection[] = [
  { name: 'ranged', key: { k: 1 }, losesRetryHistory: false },
  { name: 'hashed', key: { k: 'hashed' }, losesRetryHistory: false },
  { name: 'compound', key: { k: 1, r: 1 }, losesRetryHistory: false },
  { name: 'refined', key: { k: 1 }, losesRetryHistory: false },
  { name: 'late', key: null, losesRetryHistory: true },
  { name: 'plain', key: null, losesRetryHistory: true },
]

export function collectionsOf(
  { activities }: SwarmPlan,
  { reshardCollectionCommand }: Behaviours,
): readonly SwarmCollection[] {
  if (!activities.includes('resharding') || !reshardCollectionCommand) return always
  return [...always, { name: 'reshaped', key: { k: 1 }, losesRetryHistory: false }]
}
