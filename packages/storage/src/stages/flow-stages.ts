/**
 * Server: exec/fetch.cpp, or.cpp, shard_filter.cpp, skip.cpp, limit.cpp, projection.cpp, count.cpp.
 */
import { emptyDocument } from '@shardlab/bson'
import type { Filter } from '@shardlab/query'
import type { IndexEntry, PlanStage, RowProjection } from '../plans/plan-stage.js'
import type { Collection } from '../engine/types.js'
import { coveredDocument } from './index-key-document.js'
import { advanced, needTime, Stage, type StageState } from './stage.js'

export class FetchStage extends Stage {
  readonly #input: Stage
  readonly #filter: Filter | null
  /** Null: its documents need no check. */
  readonly #checked: Collection | null

  constructor(plan: Extract<PlanStage, { stage: 'FETCH' }>, collection: Collection, input: Stage) {
    super(plan, [input])
    this.#input = input
    this.#filter = plan.filter
    this.#checked = collection.checkRead === undefined ? null : collection
  }

  work(): StageState {
    this.works++
    const state = this.#input.work()
    if (state !== advanced) return state === needTime ? needTime : this.end()
    this.docsExamined++
    const { row } = this.#input
    if (this.#checked !== null) this.#checked.checkRead!(row.document)
    return this.#filter === null || this.#filter.matches(row.document) ? this.emit(row) : needTime
  }

  override counters(): readonly (readonly [string, number])[] {
    return [
      ['docsExamined', this.docsExamined],
      ['alreadyHasObj', 0],
    ]
  }
}

export class OrStage extends Stage {
  readonly #seen = new Set<number>()
  #current = 0
  #dupsTested = 0
  #dupsDropped = 0

  work(): StageState {
    this.works++
    const input = this.inputs[this.#current]
    if (input === undefined) return this.end()
    const state = input.work()
    if (state === needTime) return needTime
    if (state !== advanced) {
      this.#current++
      return this.#current === this.inputs.length ? this.end() : needTime
    }
    this.#dupsTested++
    if (this.#seen.has(input.row.recordId)) {
      this.#dupsDropped++
      return needTime
    }
    this.#seen.add(input.row.recordId)
    return this.emit(input.row)
  }

  override counters(): readonly (readonly [string, number])[] {
    return [
      ['dupsTested', this.#dupsTested],
      ['dupsDropped', this.#dupsDropped],
    ]
  }
}

/** Explain's `chunkSkips` counts the dropped rows. */
export class ShardFilterStage extends Stage {
  readonly #input: Stage
  readonly #owns: (document: Uint8Array) => boolean
  chunkSkips = 0

  constructor(plan: PlanStage, owns: (document: Uint8Array) => boolean, input: Stage) {
    super(plan, [input])
    this.#input = input
    this.#owns = owns
  }

  work(): StageState {
    this.works++
    const state = this.#input.work()
    if (state !== advanced) return state === needTime ? needTime : this.end()
    if (this.#owns(this.#input.row.document)) return this.emit(this.#input.row)
    this.chunkSkips++
    return needTime
  }

  override counters(): readonly (readonly [string, number])[] {
    return [['chunkSkips', this.chunkSkips]]
  }
}

export class SkipStage extends Stage {
  readonly #input: Stage
  #left: number

  constructor(plan: Extract<PlanStage, { stage: 'SKIP' }>, input: Stage) {
    super(plan, [input])
    this.#input = input
    this.#left = plan.amount
  }

  work(): StageState {
    this.works++
    const state = this.#input.work()
    if (state !== advanced) return state === needTime ? needTime : this.end()
    if (this.#left === 0) return this.emit(this.#input.row)
    this.#left--
    return needTime
  }
}

export class LimitStage extends Stage {
  readonly #input: Stage
  #left: number

  constructor(plan: Extract<PlanStage, { stage: 'LIMIT' }>, input: Stage) {
    super(plan, [input])
    this.#input = input
    this.#left = plan.amount
  }

  work(): StageState {
    this.works++
    if (this.#left === 0) return this.end()
    const state = this.#input.work()
    if (state !== advanced) return state === needTime ? needTime : this.end()
    this.#left--
    return this.emit(this.#input.row)
  }
}

export class ProjectionStage extends Stage {
  readonly #input: Stage
  readonly #projection: RowProjection
  /** Null: documents are projected, not index keys. */
  readonly #covering: IndexEntry | null

  constructor(plan: PlanStage, projection: RowProjection, covering: IndexEntry | null, input: Stage) {
    super(plan, [input])
    this.#input = input
    this.#projection = projection
    this.#covering = covering
  }

  work(): StageState {
    this.works++
    const state = this.#input.work()
    if (state !== advanced) return state === needTime ? needTime : this.end()
    const { recordId, document } = this.#input.row
    const source = this.#covering === null ? document : coveredDocument(this.#covering, document)
    return this.emit({ recordId, document: this.#projection.apply(source) })
  }
}

export class ReturnKeyStage extends Stage {
  readonly #input: Stage

  constructor(plan: PlanStage, input: Stage) {
    super(plan, [input])
    this.#input = input
  }

  work(): StageState {
    this.works++
    const state = this.#input.work()
    if (state !== advanced) return state === needTime ? needTime : this.end()
    const { recordId, indexKey } = this.#input.row
    return this.emit({ recordId, document: indexKey ?? emptyDocument })
  }
}

/** Returns no rows. */
export class CountStage extends Stage {
  readonly #limit: number
  readonly #collection: Collection | null
  #toSkip: number
  #skipped = 0
  counted = 0

  /** @param collection count its records instead of an input's rows; null: count rows */
  constructor(plan: Extract<PlanStage, { skip: number }>, collection: Collection | null, inputs: readonly Stage[]) {
    super(plan, inputs)
    this.#toSkip = plan.skip
    this.#limit = plan.limit
    this.#collection = collection
  }

  work(): StageState {
    this.works++
    if (this.#collection !== null) {
      const records = this.#collection.count
      this.#skipped = Math.min(this.#toSkip, records)
      this.counted = Math.max(0, records - this.#toSkip)
      if (this.#limit > 0) this.counted = Math.min(this.counted, this.#limit)
      return this.end()
    }
    if (this.#limit > 0 && this.counted >= this.#limit) return this.end()
    const state = this.inputs[0]!.work()
    if (state === advanced) {
      if (this.#toSkip > 0) {
        this.#toSkip--
        this.#skipped++
      } else this.counted++
      return needTime
    }
    return state === needTime ? needTime : this.end()
  }

  override counters(): readonly (readonly [string, number])[] {
    return [
      ['nCounted', this.counted],
      ['nSkipped', this.#skipped],
    ]
  }
}
