import type { WorldCopy } from '@shardlab/runtime'
import type { ResolvedOptions } from '../resolved-options.js'

/** What a snapshot consists of. It never changes. */
export interface SnapshotContent {
  readonly world: WorldCopy
  readonly options: ResolvedOptions
  /**
   * Whether it was loaded from a file, so that it has the disks of the members without their state.
   */
  readonly isFromFile: boolean
}
