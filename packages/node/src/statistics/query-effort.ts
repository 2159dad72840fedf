/**
 * For `metrics.queryExecutor` and `metrics.operation` of serverStatus. Server: curop.cpp
 * (recordCurOpMetrics).
 */
import type { DocumentWriter } from '@shardlab/bson'
import { inputsOf, type ExecutionStats, type PlanExecutor, type PlanStage } from '@shardlab/storage'

function scansCollection(stage: PlanStage): boolean {
  if (stage.stage === 'COLLSCAN') return true
  return 'input' in stage ? scansCollection(stage.input) : 'inputs' in stage && inputsOf(stage).some(scansCollection)
}

export class QueryEffort {
  /** Index keys examined. */
  scanned = 0
  scannedObjects = 0
  readonly collectionScans = { nonTailable: 0, total: 0 }
  /** Queries that sorted in memory, because no index has the order. */
  scanAndOrder = 0

  /** @param before the statistics that were added earlier for the executor; null: none */
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

  addCompleted(root: PlanStage, { stats }: Pick<PlanExecutor, 'stats'>): void {
    this.add(root, stats, null)
  }

  addLookupById(): void {
    this.scanned++
    this.scannedObjects++
  }

  addTailable(): void {
    this.collectionScans.total++
  }

  write(writer: DocumentWriter): void {
    writer.startDocument('operation').int64('scanAndOrder', this.scanAndOrder).int64('writeConflicts', 0).end()
    writer.startDocument('queryExecutor').int64('scanned', this.scanned).int64('scannedObjects', this.scannedObjects)
    const { nonTailable, total } = this.collectionScans
    writer.startDocument('collectionScans').int64('nonTailable', nonTailable).int64('total', total).end().end()
  }
}
