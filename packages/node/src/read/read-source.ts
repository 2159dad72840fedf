/** Documents of a collection as a find or aggregate reads them. */
import {
  executePlan,
  type ExecuteOptions,
  type ExecutionStats,
  type PlanExecutor,
  type PlanStage,
  type QueryPlan,
  type StoredRecord,
} from '@shardlab/storage'
import type { CursorSource } from '../cursors/cursor-manager.js'
import { SourceReads, type Collections } from '../cursors/source-reads.js'
import type { QueryEffort } from '../statistics/query-effort.js'

export interface PlanSourceOptions {
  readonly execute?: ExecuteOptions
  /** Makes results out of rows; default: the rows as they are. */
  readonly apply?: ((record: StoredRecord) => Uint8Array) | null
  /** Rows that there can be at most: behind them nothing is read any more. Default: any number. */
  readonly rowsMax?: number
  /** Where what it costs is noted; default: nowhere. */
  readonly effort?: QueryEffort
  /** Where its collection has to be as long as a cursor is open; default: nowhere, for what is read at once. */
  readonly host?: Collections
}

/** Rows of a plan. */
export class PlanSource implements CursorSource {
  readonly executor: PlanExecutor
  readonly #root: PlanStage
  readonly #apply: ((record: StoredRecord) => Uint8Array) | null
  readonly #rowsMax: number
  readonly #effort: QueryEffort | null
  readonly #plan: QueryPlan
  readonly #host: Collections | null
  #reads: SourceReads | undefined
  #noted: ExecutionStats | null = null
  #returned = 0
  #ended = false

  constructor(
    plan: QueryPlan,
    { execute = {}, apply = null, rowsMax = Number.POSITIVE_INFINITY, effort, host }: PlanSourceOptions = {},
  ) {
    this.#root = plan.root
    this.executor = executePlan(plan, execute)
    this.#apply = apply
    this.#rowsMax = rowsMax
    this.#effort = effort ?? null
    this.#plan = plan
    this.#host = host ?? null
  }

  /** Made when somebody asks: most reads end with their first batch. */
  get reads(): SourceReads | undefined {
    if (this.#host !== null) this.#reads ??= SourceReads.ofPlan(this.#host, this.#plan)
    return this.#reads
  }

  settle(): void {
    if (this.#effort === null) return
    const { stats } = this.executor
    this.#effort.add(this.#root, stats, this.#noted)
    this.#noted = stats
  }

  get isEOF(): boolean {
    return this.#ended || isAtEnd(this.#root, this.#returned)
  }

  next(): Uint8Array | null {
    const record = this.#returned < this.#rowsMax ? this.executor.next() : null
    if (record === null) {
      this.#ended = true
      return null
    }
    this.#returned++
    return this.#apply === null ? record.document : this.#apply(record)
  }
}

/**
 * Does the stage know, after so many rows, that nothing follows? EOF, IDHACK and LIMIT do, and what only hands on their rows; the
 * others find out by reading on. Server: `PlanStage::isEOF`.
 */
function isAtEnd(stage: PlanStage, returned: number): boolean {
  switch (stage.stage) {
    case 'EOF':
      return true
    case 'IDHACK':
      return returned > 0
    case 'LIMIT':
      return returned >= stage.amount || isAtEnd(stage.input, returned)
    case 'FETCH':
    case 'SHARDING_FILTER':
    case 'SKIP':
    case 'RETURN_KEY':
    case 'PROJECTION_SIMPLE':
    case 'PROJECTION_COVERED':
    case 'PROJECTION_DEFAULT':
      return isAtEnd(stage.input, returned)
    default:
      return false
  }
}
