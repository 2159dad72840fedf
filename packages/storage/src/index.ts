export { cappedLimitsOf, cappedMaxDocuments, cappedSizeBytes } from './capped.js'
export { checkIndex, type ExtraKey, type IndexCheck, type MissingKey } from './check-index.js'
export { describeFilter } from './explain/describe-filter.js'
export { describeExecution, describePlan, planSummary, type ExplainStyle } from './explain/describe-plan.js'
export { executePlan, runCount, type ExecuteOptions, type ExecutionStats, type PlanExecutor } from './execute-plan.js'
export { IndexCursor } from './index-cursor.js'
export { KeyGenerator, type DocumentKeys, type KeyTuple, type MultikeyPaths } from './index-keys.js'
export { defaultIndexName, idIndexSpec, isIdKey, parseIndexSpec, type IndexSpec } from './index-spec.js'
export {
  decodeLogEntry,
  encodeLogEntry,
  type LogEntry,
  type LogOperation,
  type LogSession,
  type RetryImage,
} from './log-entry.js'
export { encodeInsertEntries, type InsertEntries } from './insert-entries.js'
export type { InsertedDocuments } from './inserted-documents.js'
export { createMemoryEngine } from './memory-engine.js'
export {
  inputsOf,
  stagesOf,
  type IndexEntry,
  type IndexScan,
  type PlanStage,
  type PlanTrial,
  type QueryPlan,
  type RowProjection,
  type ShardFilter,
} from './plan.js'
export { planCount, planRowsToCount, planDistinct } from './planner/plan-count.js'
export { planQuery } from './planner/plan-query.js'
export { notCapped } from './planner/refusal.js'
export type { QueryRequest } from './planner/query-request.js'
export { plainEntryLength, writePlainEntry } from './plain-entry.js'
export { prepareIndex } from './prepare-index.js'
export type { RecordScan } from './record-table.js'
export { sortMemoryLimitBytes } from './sorter.js'
export { allStages, type Stage } from './stages/stage.js'
export type {
  CappedLimits,
  CheckpointImage,
  Collection,
  Index,
  IndexUsage,
  KeyRange,
  StorageEngine,
  StoredRecord,
} from './types.js'
export { validateIndexSpec, type IndexRules } from './validate-index-spec.js'
