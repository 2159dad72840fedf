import type { Filter } from '@shardlab/query'
import type { Collection } from '../engine/types.js'
import type { Stage } from '../stages/stage.js'
import type { PlanStage } from './plan-stage.js'

/** Can be executed any number of times. */
export interface QueryPlan {
  readonly collection: Collection
  readonly filter: Filter
  readonly root: PlanStage
  readonly strings: Filter['strings']
  /** The planner considered only the indexes of an index filter. */
  readonly isFiltered: boolean
  /** It uses only what query settings allow, which may be a collection scan. */
  readonly isAllowed: boolean
  readonly rejected: readonly PlanStage[]
  /** The winner first, for `allPlansExecution`. Empty if there was one candidate. */
  readonly trials: readonly PlanTrial[]
}

export interface PlanTrial {
  readonly root: Stage
  readonly score: number
}
