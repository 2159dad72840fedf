import { stagesOf } from '../plans/plan-stage.js'
import type { QueryPlan } from '../plans/query-plan.js'
import type { StoredRecord } from '../records/record-table.js'
import { sortMemoryLimitBytes } from './sorter.js'
import { buildStages } from './build-stages.js'
import { CountStage, ShardFilterStage } from './flow-stages.js'
import { advanced, allStages, needTime, type Stage, type StageState } from './stage.js'
import type { WorkSlice } from './work-slice.js'

export interface ExecuteOptions {
  /**
   * Rows for which it returns false do not exist for this query; explain does not show it. For a
   * filter that plans show, see `QueryRequest.shardFilter`.
   */
  readonly rowFilter?: (document: Uint8Array) => boolean
  /** Makes the memory of a sort unlimited, because no sort spills to disk. Default false. */
  readonly allowDiskUse?: boolean
  /** Default 100 MiB. */
  readonly sortMemoryBytes?: number
}

export interface ExecutionStats {
  readonly keysExamined: number
  readonly docsExamined: number
  /** By the shard filter or the row filter. */
  readonly rowsFiltered: number
  readonly returned: number
  readonly hasSortStage: boolean
}

export interface PlanExecutor {
  /**
   * The next row, projected; null at the end, or if the slice is over.
   * @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed, and the errors of the projection
   */
  next(): StoredRecord | null
  /** Call it before the plan's collection may change: the plan continues on a snapshot. */
  freeze(): void
  readonly stats: ExecutionStats
  readonly root: Stage
}

/**
 * Rows must be pulled before the plan's collection changes, unless it is frozen. For a cursor that
 * lives longer, plan over a snapshot.
 * @param slice null: the plan never pauses
 */
export function executePlan(
  plan: QueryPlan,
  options: ExecuteOptions = {},
  slice: WorkSlice | null = null,
): PlanExecutor {
  return new Executor(plan, options, slice)
}

/** The count by a plan of `planCount`, once {@link PlanExecutor.next} has returned the end. */
export function countBy({ root }: PlanExecutor): number {
  return root instanceof CountStage ? root.counted : 0
}

class Executor implements PlanExecutor {
  readonly root: Stage
  readonly #plan: QueryPlan
  readonly #slice: WorkSlice | null
  #isDone = false
  #isFrozen = false

  constructor(plan: QueryPlan, options: ExecuteOptions, slice: WorkSlice | null) {
    this.root = buildStages(plan, plan.root, {
      sortMemoryBytes: options.sortMemoryBytes ?? sortMemoryLimitBytes,
      allowDiskUse: options.allowDiskUse ?? false,
      rowFilter: options.rowFilter ?? null,
    })
    this.#plan = plan
    this.#slice = slice
    countUses(plan)
  }

  next(): StoredRecord | null {
    if (this.#isDone) return null
    const { root } = this
    const slice = this.#slice
    let state: StageState
    if (slice === null) {
      do state = root.work()
      while (state === needTime)
    } else {
      if (slice.isOver) return null
      do {
        state = root.work()
        slice.worked()
      } while (state === needTime && !slice.isOver)
      if (state === needTime) return null
    }
    if (state === advanced) return root.row
    this.#isDone = true
    return null
  }

  freeze(): void {
    if (this.#isFrozen) return
    this.#isFrozen = true
    this.root.continueOn(this.#plan.collection.snapshot())
  }

  get stats(): ExecutionStats {
    let keysExamined = 0
    let docsExamined = 0
    let rowsFiltered = 0
    let hasSortStage = false
    for (const stage of allStages(this.root)) {
      keysExamined += stage.keysExamined
      docsExamined += stage.docsExamined
      if (stage instanceof ShardFilterStage) rowsFiltered += stage.chunkSkips
      if (stage.plan.stage === 'SORT') hasSortStage = true
    }
    return { keysExamined, docsExamined, rowsFiltered, returned: this.root.rows, hasSortStage }
  }
}

/**
 * As $indexStats counts: one use per operation and index, however often the plan scans the index.
 */
function countUses({ root, collection }: QueryPlan): void {
  const used: { ops: number }[] = []
  for (const stage of stagesOf(root)) {
    const usage =
      'scan' in stage
        ? stage.scan.entry.index.usage
        : stage.stage === 'IDHACK'
          ? collection.indexes()[0]!.usage
          : undefined
    if (usage === undefined || used.includes(usage)) continue
    used.push(usage)
    usage.ops++
  }
}
