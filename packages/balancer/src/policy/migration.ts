import type { ChunkPlace } from './distribution.js'

/** Why a chunk moves, strongest reason first. Server: MigrationReason. */
export type MigrationReason = 'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment'

/** A decision of a policy. */
export interface Migration {
  readonly chunk: ChunkPlace
  readonly from: string
  readonly to: string
  readonly reason: MigrationReason
  /** One sentence for people: what the decision rests on. */
  readonly because: string
  /** Move it though it is too large. */
  readonly force: boolean
}
