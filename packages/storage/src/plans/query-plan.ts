import type { Filter } from '@shardlab/query'
import type { Collection } from '../engine/types.js'
import type { Stage } from '../stages/stage.js'
import type { PlanStage } from './plan-stage.js'

/** One query on one collection, which can be executed any number of times. */
export interface QueryPlan {
  readonly collection: Collection
  readonly filter: Filter
  readonly root: PlanStage
  /** The query's collation. */
  readonly strings: Filter['strings']
  /** The other candidates, for explain's `rejectedPlans`. */
  readonly rejected: readonly PlanStage[]
  /**
   * The trials of the candidates, the winner first, for `allPlansExecution`. Empty if there was one
   * candidate.
   */
  readonly trials: readonly PlanTrial[]
}

/** The trial run of one candidate. */
export interface PlanTrial {
  /** Its stages, with their counters. */
  readonly root: Stage
  readonly score: number
}
