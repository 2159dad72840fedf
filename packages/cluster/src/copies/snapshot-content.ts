import type { WorldCopy } from '@shardlab/runtime'
import type { ResolvedOptions } from '../resolved-options.js'

/** Immutable. */
export interface SnapshotContent {
  /** The same after it was saved and loaded. */
  readonly id: string
  readonly world: WorldCopy
  readonly options: ResolvedOptions
  /** Loaded from a file, a snapshot has the disks of the members without their state. */
  readonly isFromFile: boolean
}
