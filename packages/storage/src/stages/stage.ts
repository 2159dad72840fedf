/**
 * A running stage. Each call of `work` does one step and returns its outcome, as on the server, so
 * trials of several plans can take turns and explain counts the same steps. Server:
 * exec/plan_stage.h.
 */
import type { Collection } from '../engine/types.js'
import type { PlanStage } from '../plans/plan-stage.js'
import type { StoredRecord } from '../records/record-table.js'

/** Until a projection, its document is the stored one. */
export interface Row extends StoredRecord {
  /** The key that led to the row, if RETURN_KEY needs it. */
  readonly indexKey?: Uint8Array
}

export const advanced = 0
/** No row yet: call `work` again. */
export const needTime = 1
export const endOfRows = 2
export type StageState = 0 | 1 | 2

const noRow: Row = { recordId: -1, document: new Uint8Array(0) }

export abstract class Stage {
  declare readonly plan: PlanStage
  declare readonly inputs: readonly Stage[]
  declare row: Row
  /** Calls of `work`; `rows`: how many of them returned a row. */
  declare works: number
  declare rows: number
  declare isEof: boolean
  /** Only by this stage, not by its inputs. */
  declare keysExamined: number
  declare docsExamined: number

  constructor(plan: PlanStage, inputs: readonly Stage[] = []) {
    this.plan = plan
    this.inputs = inputs
    // Field initialisers would cost a find by _id more than its search: V8 defines each by a call.
    this.row = noRow
    this.works = 0
    this.rows = 0
    this.isEof = false
    this.keysExamined = 0
    this.docsExamined = 0
  }

  abstract work(): StageState

  protected emit(row: Row): StageState {
    this.row = row
    this.rows++
    return advanced
  }

  protected end(): StageState {
    this.isEof = true
    return endOfRows
  }

  /**
   * Reads the snapshot from now on, which has the current state of the collection. Cursors keep
   * their position: later writes copy the pages and nodes that they are in.
   */
  continueOn(snapshot: Collection): void {
    for (const input of this.inputs) input.continueOn(snapshot)
  }

  /** For explain, in the server's order. */
  counters(): readonly (readonly [name: string, value: number | boolean])[] {
    return []
  }
}

export function allStages(stage: Stage, into: Stage[] = []): Stage[] {
  into.push(stage)
  for (const input of stage.inputs) allStages(input, into)
  return into
}
