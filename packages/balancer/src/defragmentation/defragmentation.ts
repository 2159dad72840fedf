import type { ActorContext, CancelSignal } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import type { ChunkOperations } from '../rounds/chunk-operations.js'
import type { ClusterView } from '../cluster-view.js'
import type { SettingsReader } from '../settings/settings-reader.js'
import type { DefragmentationMove, Phase } from './phase.js'

export interface Defragmentation {
  readonly ns: string
  readonly uuid: Uint8Array
  phase: Phase
  /** An action must be retried in the next round. */
  isWaiting: boolean
  /** A worker is already determining the next phase. */
  isEntering: boolean
}

export interface WantedMove {
  readonly defragmentation: Defragmentation
  readonly phase: Phase
  readonly move: DefragmentationMove
}

export interface DefragmentationParts {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  readonly view: ClusterView
  readonly operations: ChunkOperations
  readonly settings: SettingsReader
  readonly stopping: CancelSignal
  readonly mayWork: () => boolean
}
