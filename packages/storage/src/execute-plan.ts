/** Plans as pull iterators. Nothing here waits. */
import { stagesOf, type QueryPlan } from './plan.js'
import type { StoredRecord } from './record-table.js'
import { sortMemoryLimitBytes } from './sorter.js'
import { buildStages } from './stages/build-stages.js'
import { CountStage, ShardFilterStage } from './stages/flow-stages.js'
import { advanced, allStages, needTime, type Stage } from './stages/stage.js'

export interface ExecuteOptions {
  /** Rows that it refuses do not exist for this query. See `QueryRequest.shardFilter` for one that plans know of. */
  readonly rowFilter?: (document: Uint8Array) => boolean
  /** May the sort go beyond its memory? There is no disk to use, so then nothing limits it. Default false. */
  readonly allowDiskUse?: boolean
  /** Default 100 MiB. */
  readonly sortMemoryBytes?: number
}

/** What the profiler and the log tell of one run. */
export interface ExecutionStats {
  readonly keysExamined: number
  readonly docsExamined: number
  /** Rows that the shard filter or the row filter refused. */
  readonly rowsFiltered: number
  readonly returned: number
  readonly hasSortStage: boolean
}

export interface PlanExecutor {
  /**
   * The next row, projected; null at the end, and from then on.
   * @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed, and what the projection throws
   */
  next(): StoredRecord | null
  readonly stats: ExecutionStats
  /** The stages at work, for explain. */
  readonly root: Stage
}

/** The collection of the plan must not be written while rows are pulled: plan over a snapshot for a cursor that lives on. */
export function executePlan(plan: QueryPlan, options: ExecuteOptions = {}): PlanExecutor {
  return new Executor(plan, options)
}

/** Runs a plan of `planCount` to its end; `done` is told what it cost. @returns the number that it counted */
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

/** $indexStats counts an operation once for each index, however often its plan scans it. */
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
