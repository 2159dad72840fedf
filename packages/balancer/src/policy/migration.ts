import type { ChunkPlace } from './distribution.js'

/** Strongest reason first. Server: MigrationReason. */
export type MigrationReason = 'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment'

export interface Migration {
  readonly chunk: ChunkPlace
  readonly from: string
  readonly to: string
  readonly reason: MigrationReason
  /** One sentence for people: the figures behind the decision. */
  readonly because: string
  /** Move the chunk although it is too large. */
  readonly force: boolean
}
