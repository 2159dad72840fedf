/** Plans as pull iterators. All calls are synchronous. */
import { stagesOf } from '../plans/plan-stage.js'
import type { QueryPlan } from '../plans/query-plan.js'
import type { StoredRecord } from '../records/record-table.js'
import { sortMemoryLimitBytes } from './sorter.js'
import { buildStages } from './build-stages.js'
import { CountStage, ShardFilterStage } from './flow-stages.js'
import { advanced, allStages, needTime, type Stage } from './stage.js'

export interface ExecuteOptions {
  /**
   * Rows for which it returns false do not exist for this query and do not show in explain. For a
   * filter that plans show, see `QueryRequest.shardFilter`.
   */
  readonly rowFilter?: (document: Uint8Array) => boolean
  /**
   * Whether the sort may exceed its memory. No sort spills to disk, so then its memory is
   * unlimited. Default false.
   */
  readonly allowDiskUse?: boolean
  /** Default 100 MiB. */
  readonly sortMemoryBytes?: number
}

/** Statistics of one run for the profiler and the log. */
export interface ExecutionStats {
  readonly keysExamined: number
  readonly docsExamined: number
  /** Rows that the shard filter or the row filter rejected. */
  readonly rowsFiltered: number
  readonly returned: number
  readonly hasSortStage: boolean
}

export interface PlanExecutor {
  /**
   * The next row, projected; null at the end and after it.
   * @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed, and the errors of the projection
   */
  next(): StoredRecord | null
  readonly stats: ExecutionStats
  /** The running stages, for explain. */
  readonly root: Stage
}

/**
 * Rows must be pulled before the collection of the plan changes: for a cursor that lives longer,
 * plan over a snapshot.
 */
export function executePlan(plan: QueryPlan, options: ExecuteOptions = {}): PlanExecutor {
  return new Executor(plan, options)
}

/**
 * Runs a plan of `planCount` to its end and passes its statistics to `done`.
 * @returns the count
 */
export function runCount(
  plan: QueryPlan,
  options: ExecuteOptions = {},
  done?: (stats: ExecutionStats) => void,
): number {
  const executor = executePlan(plan, options)
  while (executor.next() !== null) continue
  done?.(executor.stats)
  return executor.root instanceof CountStage ? executor.root.counted : 0
}

class Executor implements PlanExecutor {
  readonly root: Stage
  #isDone = false

  constructor(plan: QueryPlan, options: ExecuteOptions) {
    this.root = buildStages(plan, plan.root, {
      sortMemoryBytes: options.sortMemoryBytes ?? sortMemoryLimitBytes,
      allowDiskUse: options.allowDiskUse ?? false,
      rowFilter: options.rowFilter ?? null,
    })
    countUses(plan)
  }

  next(): StoredRecord | null {
    if (this.#isDone) return null
    const { root } = this
    let state = root.work()
    while (state === needTime) state = root.work()
    if (state === advanced) return root.row
    this.#isDone = true
    return null
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

/** $indexStats counts an operation once for each index, however often its plan scans the index. */
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
