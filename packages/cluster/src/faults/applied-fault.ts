import type { FaultSpec } from './fault-data.js'

export interface AppliedFault {
  /** Eight letters and digits. */
  readonly id: string
  readonly fault: string
  readonly spec: FaultSpec
  /**
   * `scheduled`: not begun. `exhausted`: the fault has struck `first` times and strikes no more,
   * but what it holds stays held until it is healed.
   */
  readonly state: 'scheduled' | 'active' | 'exhausted'
  /** In milliseconds since the epoch of the cluster's clock. */
  readonly beginsAtMs: number
  /** null: never. */
  readonly healsAtMs: number | null
  /** null: strikes are not counted. */
  readonly strikes: number | null
}
