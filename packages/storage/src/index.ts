export { createMemoryEngine, listingOf } from './engine/memory-engine.js'
export { preImagesNs } from './engine/pre-images.js'
export type {
  CappedLimits,
  CheckpointImage,
  Collection,
  Index,
  IndexUsage,
  KeyRange,
  ScanOptions,
  StorageEngine,
  StoredRecord,
  IndexBuild,
} from './engine/types.js'
export { describeFilter } from './explain/describe-filter.js'
export type { ExplainStyle } from './explain/describe-express.js'
export { describeExecution, describePlan, planSummary } from './explain/describe-plan.js'
export {
  defaultIndexName,
  idIndexSpec,
  isIdKey,
  parseIndexSpec,
  type IndexSpec,
  type IndexVersion,
} from './index-specs/index-spec.js'
export { UndoLog } from './history/undo-log.js'
export { prepareIndex } from './index-specs/prepare-index.js'
export {
  checkKeyPattern,
  validateIndexSpec,
  withoutUnknownOptions,
  type IndexRules,
} from './index-specs/validate-index-spec.js'
export { checkIndex, type ExtraKey, type IndexCheck, type MissingKey } from './indexes/check-index.js'
export { KeyGenerator, type DocumentKeys, type KeyTuple, type MultikeyPaths } from './indexes/index-keys.js'
export { encodeInsertEntries, type InsertEntries, type KeyOfInserted } from './log/insert-entries.js'
export {
  decodeLogEntry,
  decodeOperation,
  encodeLogEntry,
  opTimeOf,
  uninitializedTerm,
  type LogEntry,
  type LogOperation,
  type LogOperationFields,
  type LogSession,
  type OpTime,
  type RetryImage,
  statementOfOperation,
  writeOperation,
  writeOperationStatement,
} from './log/log-entry.js'
export { plainEntryLength, writePlainEntry } from './log/plain-entry.js'
export { planCount, planRowsToCount, planDistinct } from './planner/plan-count.js'
export { planQuery } from './planner/plan-query.js'
export { queryShapeText, type QueryShape } from './planner/query-shape.js'
export { IndexFilters, type IndexFilter } from './planner/index-filters.js'
export { notCappedError } from './planner/planner-errors.js'
export type { QueryRequest } from './planner/query-request.js'
export {
  inputsOf,
  stagesOf,
  type IndexEntry,
  type IndexScan,
  type PlanStage,
  type RowProjection,
  type ShardFilter,
} from './plans/plan-stage.js'
export type { PlanTrial, QueryPlan } from './plans/query-plan.js'
export { cappedLimitsOf, cappedMaxDocuments, cappedSizeBytes } from './records/capped.js'
export type { InsertedDocuments } from './records/inserted-documents.js'
export type { DocumentScan, RecordScan } from './records/record-table.js'
export {
  countBy,
  executePlan,
  type ExecuteOptions,
  type ExecutionStats,
  type PlanExecutor,
} from './stages/execute-plan.js'
export type { WorkSlice } from './stages/work-slice.js'
export { sortMemoryLimitBytes } from './stages/sorter.js'
export { allStages, type Stage } from './stages/stage.js'
export { IndexCursor, type KeyCursor } from './tree/index-cursor.js'
export { undecidedChanges, type DocumentChange, type UndecidedChanges } from './undecided/undecided-changes.js'
export { UndecidedCollection } from './undecided/undecided-collection.js'
