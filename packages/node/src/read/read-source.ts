import {
  executePlan,
  type ExecuteOptions,
  type ExecutionStats,
  type PlanExecutor,
  type PlanStage,
  type QueryPlan,
  type StoredRecord,
} from '@shardlab/storage'
import type { TimeSlice } from '@shardlab/member'
import type { CursorSource } from '../cursors/cursor-manager.js'
import { SourceReads, type Collections } from '../cursors/source-reads.js'
import type { QueryEffort } from '../statistics/query-effort.js'

export interface PlanSourceOptions {
  readonly execute?: ExecuteOptions
  /** Default: the source never pauses. */
  readonly slice?: TimeSlice
  /** Default: the row's document. */
  readonly apply?: ((record: StoredRecord) => Uint8Array) | null
  /** Nothing is read after this many rows. Default: unlimited. */
  readonly rowsMax?: number
  /** Default: the cost is not recorded. */
  readonly effort?: QueryEffort
  /**
   * The node on which the collection must exist while a cursor is open. Default: none, for plans
   * that are read at once.
   */
  readonly host?: Collections
}

export class PlanSource implements CursorSource {
  readonly executor: PlanExecutor
  readonly slice: TimeSlice | undefined
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
    { execute = {}, slice, apply = null, rowsMax = Number.POSITIVE_INFINITY, effort, host }: PlanSourceOptions = {},
  ) {
    this.#root = plan.root
    this.slice = slice
    this.executor = executePlan(plan, execute, slice)
    this.#apply = apply
    this.#rowsMax = rowsMax
    this.#effort = effort ?? null
    this.#plan = plan
    this.#host = host ?? null
  }

  /** Created on demand: most reads end with their first batch. */
  get reads(): SourceReads | undefined {
    if (this.#host !== null) this.#reads ??= SourceReads.ofPlan(this.#host, this.#plan)
    return this.#reads
  }

  save(): void {
    this.executor.freeze()
  }

  restore(): void {
    this.reads?.check()
  }

  recordCost(): void {
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
      // The end may also be reached with the last work of a slice; the next call finds it again.
      this.#ended = this.slice?.isOver !== true
      return null
    }
    this.#returned++
    return this.#apply === null ? record.document : this.#apply(record)
  }
}

/**
 * Whether the stage can tell after so many rows that no row follows. EOF, IDHACK and LIMIT can, and
 * so can stages that only pass on their rows; the others must read to find out. Server:
 * `PlanStage::isEOF`.
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
