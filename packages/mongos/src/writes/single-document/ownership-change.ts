/** What a shard reports when an update gives a document another shard's key value (283). */
import { ErrorCodes, findField } from '@shardlab/bson'

export interface OwnershipChange {
  /** Null: an upsert without a match. */
  readonly before: Uint8Array | null
  readonly after: Uint8Array
}

export function isOwnershipChange(code: number): boolean {
  return code === ErrorCodes.WouldChangeOwningShard
}

export function ownershipChange(error: Uint8Array): OwnershipChange {
  return { before: findField(error, 'preImage')?.slice() ?? null, after: findField(error, 'postImage')!.slice() }
}
