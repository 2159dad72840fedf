/** What a shard reports when an update gives a document another shard's key value (283). */
import { findField } from '@shardlab/bson'

const wouldChangeOwningShard = 283

export interface OwnershipChange {
  /** Null: an upsert without a match. */
  readonly before: Uint8Array | null
  readonly after: Uint8Array
}

export function isOwnershipChange(code: number): boolean {
  return code === wouldChangeOwningShard
}

export function ownershipChange(error: Uint8Array): OwnershipChange {
  return { before: findField(error, 'preImage')?.slice() ?? null, after: findField(error, 'postImage')!.slice() }
}
