import type { Address } from '@shardlab/actor'
import type { FaultSpec } from './fault-data.js'

export interface AppliedFault {
  /** Eight letters and digits. */
  readonly id: string
  readonly fault: string
  readonly spec: FaultSpec
  /**
   * `scheduled`: not begun. `waiting`: no member fits its words yet, such as `the primary of
   * shard02` during an election. `exhausted`: the fault has struck `first` times and strikes no
   * more, but what it holds stays held until it is healed.
   */
  readonly state: 'scheduled' | 'waiting' | 'active' | 'exhausted'
  /** The members that it names, as chosen when it began. Empty: not begun, or it names none. */
  readonly members: readonly Address[]
  /** In milliseconds since the epoch of the cluster's clock. */
  readonly beginsAtMs: number
  /** null: never. */
  readonly healsAtMs: number | null
  /** null: strikes are not counted. */
  readonly strikes: number | null
}
