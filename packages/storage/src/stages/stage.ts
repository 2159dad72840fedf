/**
 * A stage at work. Each call of `work` does one step and tells what came of it, as on the server, so that trials of
 * several plans can take turns and explain counts the same steps. Server: exec/plan_stage.h.
 */
import type { PlanStage } from '../plan.js'
import type { StoredRecord } from '../record-table.js'

/** A row on its way up. Its document is the stored one until a projection. */
export interface Row extends StoredRecord {
  /** The index key that it was found under, where RETURN_KEY wants it. */
  readonly indexKey?: Uint8Array
}

/** A row is in `row`. */
export const advanced = 0
/** Nothing yet; work again. */
export const needTime = 1
/** Nothing more. */
export const endOfRows = 2
export type StageState = 0 | 1 | 2

export abstract class Stage {
  readonly plan: PlanStage
  readonly inputs: readonly Stage[]
  /** After `advanced`: the row. */
  row!: Row
  /** Calls of `work`, and how many of them gave a row. */
  works = 0
  rows = 0
  isEof = false
  /** Index keys and documents that this stage looked at. */
  keysExamined = 0
  docsExamined = 0

  constructor(plan: PlanStage, inputs: readonly Stage[] = []) {
    this.plan = plan
    this.inputs = inputs
  }

  abstract work(): StageState

  protected give(row: Row): StageState {
    this.row = row
    this.rows++
    return advanced
  }

  protected end(): StageState {
    this.isEof = true
    return endOfRows
  }

  /** What only this kind of stage tells explain of its run, in the server's order. */
  counters(): readonly (readonly [name: string, value: number | boolean])[] {
    return []
  }
}

/** The stage and all below it. */
export function* allStages(stage: Stage): Generator<Stage, void, void> {
  yield stage
  for (const input of stage.inputs) yield* allStages(input)
}
