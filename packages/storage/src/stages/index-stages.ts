/** Server: exec/index_scan.cpp, count_scan.cpp, distinct_scan.cpp. */
import { findPath, keyStringFieldEnd, keyStringUpperBound } from '@shardlab/bson'
import type { KeyCursor } from '../tree/index-cursor.js'
import { mayRepeat, type PlanStage } from '../plans/plan-stage.js'
import type { Collection, Index } from '../engine/types.js'
import { indexKeyDocument } from './index-key-document.js'
import { BoundsChecker, singleRangeOf } from './scan-range.js'
import { needTime, Stage, type StageState } from './stage.js'

export class IndexScanStage extends Stage {
  readonly #plan: Extract<PlanStage, { stage: 'IXSCAN' }>
  #collection: Collection
  #index: Index
  readonly #withKeys: boolean
  readonly #seen: Set<number> | null
  #cursor: KeyCursor | null = null
  #checker: BoundsChecker | null = null
  #mustSeek = false
  #seeks = 0
  #dupsTested = 0
  #dupsDropped = 0

  constructor(plan: Extract<PlanStage, { stage: 'IXSCAN' }>, collection: Collection, withKeys: boolean) {
    super(plan)
    this.#plan = plan
    this.#collection = collection
    this.#index = plan.scan.entry.index
    this.#withKeys = withKeys
    this.#seen = mayRepeat(plan.scan) ? new Set() : null
  }

  work(): StageState {
    this.works++
    if (this.isEof) return this.end()
    const cursor = this.#positioned()
    if (cursor === null) return this.end()
    const recordId = cursor.next()
    if (recordId < 0) return this.end()
    this.keysExamined++
    if (this.#checker !== null) {
      const check = this.#checker.check(cursor.key)
      if (check === 'DONE') return this.end()
      if (check === 'MUST_ADVANCE') {
        this.#mustSeek = true
        return needTime
      }
    }
    const { filter } = this.#plan
    if (this.#seen !== null) {
      this.#dupsTested++
      if (this.#seen.has(recordId)) {
        this.#dupsDropped++
        return needTime
      }
      this.#seen.add(recordId)
    }
    const record = this.#collection.get(recordId)!
    if (filter !== null && !filter.matches(record.document)) return needTime
    if (!this.#withKeys) return this.emit(record)
    return this.emit({ ...record, indexKey: indexKeyDocument(this.#plan.scan.entry, record.document, cursor.key) })
  }

  override continueOn(snapshot: Collection): void {
    this.#collection = snapshot
    this.#index = snapshot.index(this.#index.name)!
  }

  override counters(): readonly (readonly [string, number])[] {
    return [
      ['keysExamined', this.keysExamined],
      ['seeks', this.#seeks],
      ['dupsTested', this.#dupsTested],
      ['dupsDropped', this.#dupsDropped],
    ]
  }

  #positioned(): KeyCursor | null {
    if (this.#cursor !== null && !this.#mustSeek) return this.#cursor
    const { scan } = this.#plan
    this.#seeks++
    if (this.#cursor === null) {
      const range = singleRangeOf(scan)
      if (range !== null) return (this.#cursor = this.#index.scanKeys(range.from, range.to, scan.reverse))
      this.#checker = new BoundsChecker(scan)
      if (!this.#checker.start()) return null
    }
    this.#mustSeek = false
    this.#cursor = seek(this.#index, scan.reverse, this.#checker!.seekTo)
    return this.#cursor
  }
}

function seek(index: Index, reverse: boolean, to: string): KeyCursor {
  return reverse ? index.scanKeys(undefined, to, true) : index.scanKeys(to, undefined, false)
}

export class CountScanStage extends Stage {
  readonly #plan: Extract<PlanStage, { stage: 'COUNT_SCAN' }>
  #collection: Collection
  #index: Index
  readonly #seen: Set<number> | null
  #cursor: KeyCursor | null = null

  constructor(plan: Extract<PlanStage, { stage: 'COUNT_SCAN' }>, collection: Collection) {
    super(plan)
    this.#plan = plan
    this.#collection = collection
    this.#index = plan.scan.entry.index
    this.#seen = mayRepeat(plan.scan) ? new Set() : null
  }

  work(): StageState {
    this.works++
    if (this.isEof) return this.end()
    const { scan } = this.#plan
    if (this.#cursor === null) {
      const range = singleRangeOf(scan)!
      this.#cursor = this.#index.scanKeys(range.from, range.to, false)
    }
    const recordId = this.#cursor.next()
    // The server also counts the key after the range.
    this.keysExamined++
    if (recordId < 0) return this.end()
    if (this.#seen !== null) {
      if (this.#seen.has(recordId)) return needTime
      this.#seen.add(recordId)
    }
    return this.emit(this.#collection.get(recordId)!)
  }

  override continueOn(snapshot: Collection): void {
    this.#collection = snapshot
    this.#index = snapshot.index(this.#index.name)!
  }

  override counters(): readonly (readonly [string, number])[] {
    return [['keysExamined', this.keysExamined]]
  }
}

/** Seeks from one combination of values of the first fields to the next. */
export class DistinctScanStage extends Stage {
  readonly #plan: Extract<PlanStage, { stage: 'DISTINCT_SCAN' }>
  #collection: Collection
  #index: Index
  readonly #checker: BoundsChecker
  readonly #path: string
  #cursor: KeyCursor | null = null
  #seekTo: string | null = null

  constructor(plan: Extract<PlanStage, { stage: 'DISTINCT_SCAN' }>, collection: Collection) {
    super(plan)
    this.#plan = plan
    this.#collection = collection
    this.#index = plan.scan.entry.index
    this.#checker = new BoundsChecker(plan.scan)
    this.#path = plan.scan.entry.pattern[plan.fieldCount - 1]!.path
    this.isEof = !this.#checker.start()
    this.#seekTo = this.#checker.seekTo
  }

  work(): StageState {
    this.works++
    if (this.isEof) return this.end()
    const { scan, shardFilter } = this.#plan
    if (this.#seekTo !== null) this.#cursor = seek(this.#index, scan.reverse, this.#seekTo)
    this.#seekTo = null
    const recordId = this.#cursor!.next()
    if (recordId < 0) return this.end()
    this.keysExamined++
    const { key } = this.#cursor!
    const check = this.#checker.check(key)
    if (check === 'DONE') return this.end()
    if (check === 'MUST_ADVANCE') {
      this.#seekTo = this.#checker.seekTo
      return needTime
    }
    const record = this.#collection.get(recordId)!
    // After an orphan, the next key may have the same values. A missing field has the same key as
    // null but is no value of `distinct`.
    if (shardFilter !== null && !shardFilter.owns(record.document)) return needTime
    if (findPath(record.document, this.#path) === undefined) return needTime
    const prefix = key.slice(0, this.#prefixEnd(key))
    this.#seekTo = scan.reverse ? prefix : keyStringUpperBound(prefix)
    return this.emit(record)
  }

  override continueOn(snapshot: Collection): void {
    this.#collection = snapshot
    this.#index = snapshot.index(this.#index.name)!
  }

  override counters(): readonly (readonly [string, number])[] {
    return [['keysExamined', this.keysExamined]]
  }

  #prefixEnd(key: string): number {
    const { scan, fieldCount } = this.#plan
    let end = 0
    for (let i = 0; i < fieldCount; i++) end = keyStringFieldEnd(key, end, scan.entry.pattern[i]!.direction === -1)
    return end
  }
}
