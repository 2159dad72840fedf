/** Server: exec/collection_scan.cpp, idhack.cpp, eof.cpp. */
import { DocumentWriter } from '@shardlab/bson'
import type { Filter } from '@shardlab/query'
import type { PlanStage } from '../plans/plan-stage.js'
import type { DocumentScan, StoredRecord } from '../records/record-table.js'
import type { KeyCursor } from '../tree/index-cursor.js'
import type { Collection } from '../engine/types.js'
import { needTime, Stage, type StageState } from './stage.js'

export class EofStage extends Stage {
  work(): StageState {
    this.works++
    return this.end()
  }
}

export class CollectionScanStage extends Stage {
  readonly #scan: DocumentScan | ClusteredScan
  readonly #filter: Filter | null

  constructor(plan: Extract<PlanStage, { stage: 'COLLSCAN' }>, collection: Collection) {
    super(plan)
    this.#filter = plan.filter
    this.#scan = collection.clustered
      ? new ClusteredScan(collection, plan.reverse)
      : collection.scan({
          reverse: plan.reverse,
          ...(plan.after === null ? {} : { after: plan.after }),
          ...(plan.filter === null ? {} : collection.scanBounds?.(plan.filter.root)),
        })
  }

  work(): StageState {
    this.works++
    const record = this.#scan.next()
    if (record === null) return this.end()
    this.docsExamined++
    return this.#filter === null || this.#filter.matches(record.document) ? this.emit(record) : needTime
  }

  override continueOn(snapshot: Collection): void {
    if (this.#scan instanceof ClusteredScan) this.#scan.collection = snapshot
  }

  override counters(): readonly (readonly [string, number])[] {
    return [['docsExamined', this.docsExamined]]
  }
}

/** In the order of `_id`. */
class ClusteredScan {
  collection: Collection
  readonly #cursor: KeyCursor

  constructor(collection: Collection, reverse: boolean) {
    this.collection = collection
    this.#cursor = collection.indexes()[0]!.scanKeys(undefined, undefined, reverse)
  }

  next(): StoredRecord | null {
    const recordId = this.#cursor.next()
    if (recordId < 0) return null
    const record = this.collection.get(recordId)!
    this.collection.checkRead?.(record.document)
    return record
  }
}

export class IdHackStage extends Stage {
  readonly #plan: Extract<PlanStage, { stage: 'IDHACK' }>
  #collection: Collection
  readonly #withKeys: boolean
  #isDone = false

  constructor(plan: Extract<PlanStage, { stage: 'IDHACK' }>, collection: Collection, withKeys: boolean) {
    super(plan)
    this.#withKeys = withKeys
    this.#plan = plan
    this.#collection = collection
  }

  work(): StageState {
    this.works++
    if (this.#isDone) return this.end()
    this.#isDone = true
    const record = this.#collection.findById(this.#plan.id)
    if (record === undefined) return this.end()
    this.keysExamined = 1
    this.docsExamined = 1
    // Explain shows the end together with the row, because only one record can match.
    this.isEof = true
    if (!this.#withKeys) return this.emit(record)
    return this.emit({ ...record, indexKey: new DocumentWriter(32).value('_id', this.#plan.id).finish() })
  }

  override continueOn(snapshot: Collection): void {
    this.#collection = snapshot
  }

  override counters(): readonly (readonly [string, number])[] {
    return [
      ['keysExamined', this.keysExamined],
      ['docsExamined', this.docsExamined],
    ]
  }
}
