/** What carrying plans out has cost, for `metrics.queryExecutor` and `metrics.operation` of serverStatus. Server: curop.cpp (recordCurOpMetrics). */
import type { DocumentWriter } from '@shardlab/bson'
import { inputsOf, type ExecutionStats, type PlanExecutor, type PlanStage } from '@shardlab/storage'

function scansCollection(stage: PlanStage): boolean {
  if (stage.stage === 'COLLSCAN') return true
  return 'input' in stage ? scansCollection(stage.input) : 'inputs' in stage && inputsOf(stage).some(scansCollection)
}

export class QueryEffort {
  /** Index keys that were looked at. */
  scanned = 0
  /** Documents that were. */
  scannedObjects = 0
  readonly collectionScans = { nonTailable: 0, total: 0 }
  /** Queries that sorted what no index had in order. */
  scanAndOrder = 0

  /** Takes note of what an executor has done; `before` is what had been noted of it, null at first. */
  add(
    root: PlanStage,
    { keysExamined, docsExamined, hasSortStage }: ExecutionStats,
    before: ExecutionStats | null,
  ): void {
    this.scanned += keysExamined - (before?.keysExamined ?? 0)
    this.scannedObjects += docsExamined - (before?.docsExamined ?? 0)
    if (before !== null) return
    if (hasSortStage) this.scanAndOrder++
    if (!scansCollection(root)) return
    this.collectionScans.total++
    this.collectionScans.nonTailable++
  }

  /** The same for a plan that has been run to its end. */
  ran(root: PlanStage, { stats }: Pick<PlanExecutor, 'stats'>): void {
    this.add(root, stats, null)
  }

  /** A document found by its `_id` without a plan. */
  foundById(): void {
    this.scanned++
    this.scannedObjects++
  }

  /** A cursor that reads a capped collection on and on begins. */
  tailBegins(): void {
    this.collectionScans.total++
  }

  /** Appends `operation` and `queryExecutor`. */
  write(writer: DocumentWriter): void {
    writer.startDocument('operation').int64('scanAndOrder', this.scanAndOrder).int64('writeConflicts', 0).end()
    writer.startDocument('queryExecutor').int64('scanned', this.scanned).int64('scannedObjects', this.scannedObjects)
    const { nonTailable, total } = this.collectionScans
    writer.startDocument('collectionScans').int64('nonTailable', nonTailable).int64('total', total).end().end()
  }
}
