export { accessRulesOf } from './access/access-rules.js'
export * from './access/administration-privileges.js'
export { applyOpsPrivileges } from './access/apply-ops-privileges.js'
export { authorize, isAllowed } from './access/authorize.js'
export { writeLoginOfHello } from './access/hello-access.js'
export {
  controlEmulation,
  onCluster,
  onDatabase,
  onNamedDatabase,
  onNamedNamespace,
  onNamespace,
} from './access/needs.js'
export { checkCursorOwner, cursorOwner, mayKillOperation, shownOwners, type CursorOwner } from './access/ownership.js'
export { authorizedFilter, shownDatabases } from './access/shown-names.js'
export { withUserOfSession } from './access/session-user.js'
export { timeCheckOf, writeTimesFor } from './access/cluster-times.js'
export type { TimeKeySource } from './access/time-key-source.js'
export { publicCommand } from './access/redacted.js'
export type { FoundUser, UserCommand, UserSource } from './access/user-source.js'
export { memoryLimitBytes, stageMemoryOf, withConstants } from './aggregation/pipeline-options.js'
export { writeResults } from './aggregation/writers/write-results.js'
export type { WriteSink } from './aggregation/writers/write-sink.js'
export { checkApiVersion } from './arguments/api-version.js'
export { collationOf } from './arguments/collation.js'
export { collectionUuidOf, refuseUuidOfView, uuidIn, uuidMismatch } from './arguments/collection-uuid.js'
export { documentsArgument } from './arguments/documents-argument.js'
export { evaluationOf, withCollation, withLet, withTimeLimit, writeEvaluation } from './arguments/evaluation.js'
export { hintOf } from './arguments/hint.js'
export { fieldsIn, hasGenericComments, rowIn, unknownFieldsIn } from './arguments/command-language.js'
export { handwrittenParserIn } from './arguments/handwritten-parsers.js'
export { namespaceArgument } from './arguments/namespace-argument.js'
export { batchSizeOf, nonNegative } from './arguments/read-arguments.js'
export { databaseNameOf, splitNamespace } from './arguments/split-namespace.js'
export { lastingOptions, refuseTemporary, temporaryOptions } from './collections/temporary-options.js'
export {
  concernDefaultsId,
  completeWriteConcern,
  concernDefaultsOf,
  reportedWriteConcern,
  withDefaultConcerns,
  writeConcernDefaults,
} from './concerns/concern-defaults.js'
export {
  type Concerns,
  type ReadConcern,
  checkConcerns,
  checkReadTime,
  noConcerns,
  supportsWriteConcern,
  takesWriteConcern,
  writingStage,
  unsatisfied,
  writeConcernErrorDocument,
  writeConcernErrorOf,
} from './concerns/concerns.js'
export { checkSnapshotReads, withAtClusterTime } from './concerns/snapshot-read.js'
export { membersMax, parseWriteConcern } from './concerns/write-concern.js'
export { ConnectionClosedError } from './connections/connection-closed-error.js'
export { ConnectionTable, type Connection } from './connections/connection-table.js'
export { killCursor } from './cursors/kill-cursor.js'
export { batchBytesMax, cursorTimeoutMs, defaultFirstBatch, mergedBatchBytesMax } from './cursors/cursor-limits.js'
export { DocumentBatch } from './cursors/document-batch.js'
export { DroppedCursors } from './cursors/dropped-cursors.js'
export type { DocumentSource } from './cursors/document-source.js'
export { InputMerger, type MergeKey, type MergeOrder, failureOf } from './cursors/input-merger.js'
export { emptySource, listSource } from './cursors/list-source.js'
export { type CursorReply, readCursorReply } from './cursors/read-cursor-reply.js'
export { documentOrder, sortKeyField, sortKeyOrder } from './cursors/sort-key-order.js'
export type { TailableMode } from './cursors/tailable-mode.js'
export { checkBuilt } from './documents/built-document.js'
export { documentBytesMax } from './documents/document-size.js'
export { explainableFields } from './explain/explainable-fields.js'
export { writeServerInfo, writeServerParameters } from './explain/server-facts.js'
export { shownStages } from './explain/shown-stage.js'
export { type FailableCommand, evaluateFailCommand, withFailedWriteConcern } from './fail-points/fail-command.js'
export { failPointTable } from './fail-points/fail-point-table.js'
export { FailPoints } from './fail-points/fail-points.js'
export { checkGetMoreAfterCheckout } from './fail-points/get-more.js'
export { maxTimeMsAtFailPoints } from './fail-points/max-time.js'
export { codeNameOf, writeCode, writeFailure, type CodeNames } from './replies/code-name.js'
export { HostSearch } from './context/host-search.js'
export { ForwardingContext } from './context/forwarding-context.js'
export { SetContext } from './context/set-context.js'
export { SetTargeter } from './context/set-targeter.js'
export { parseReadPreference, type ReadPreference } from './concerns/read-preference.js'
export { StepContext } from './context/step-context.js'
export { LogBuffer } from './log/log-buffer.js'
export { applyLogParameters, followLogParameters } from './log/log-parameters.js'
export { killOfRouter } from './operations/end-with-client.js'
export { finishOperation, noteConnected, noteDisconnected, noteMetadata } from './log/member-log.js'
export type { CommandDescription, MemberHost, MemberInvocation } from './member-host.js'
export { memberRows } from './member-rows.js'
export { checkAdminDatabase, parseCurrentOpOptions } from './operations/current-op-options.js'
export { ActivityClock, isoText, type ReportedTransaction } from './operations/reported-transaction.js'
export { currentOperations } from './operations/current-operations.js'
export type { IdleCursor } from './operations/operation-document.js'
export { OperationRegistry } from './operations/operation-registry.js'
export { type OperationRequest, RunningOperation } from './operations/running-operation.js'
export type { ShardLabel } from './operations/shard-label.js'
export { defaultSliceLimits, giveUpTurn, TimeSlice, type SliceLimits } from './operations/time-slice.js'
export { TimeLimit, maxTimeExpired, maxTimeMsOf } from './operations/time-limit.js'
export { withComment } from './operations/with-comment.js'
export { parameterRows, ParameterSet } from './parameters/parameter-set.js'
export type { StartOptions } from './start-options.js'
export { startValue, type StartParameters } from './parameters/start-parameters.js'
export type { ParameterOwner, ParameterRow, ParameterValue } from './parameters/parameter.js'
export {
  isLookupById,
  lookUpQuerySettings,
  queryShapeHashOf,
  refusalOfNamespace,
  stageExemptFromRejection,
} from './query-settings/look-up.js'
export { querySettingsSource } from './query-settings/settings-source.js'
export {
  hintSpecifications,
  namespaceOfHint,
  passedQuerySettings,
  querySettingsOf,
  querySettingsParameter,
  QuerySettingsTable,
  withoutQuerySettings,
  withQuerySettings,
  type QuerySettings,
} from './query-settings/settings-table.js'
export { DistinctValues, writeValues } from './reads/distinct-values.js'
export { parseQuerySort } from './reads/query-sort.js'
export {
  type BulkWriteResult,
  type BulkWriteSummary,
  countOfFirstBatch,
  emptySummary,
  errorItem,
  resultItem,
  writeSummary,
} from './replies/bulk-write-reply.js'
export { applyPlacementReply } from './placement/placement-reply.js'
export {
  askCluster,
  checkVerb,
  clusterVerbs,
  clusterVerbsSummary,
  shardlabSpec,
  type ClusterVerbs,
} from './specs/shardlab.js'
export { commandErrorFrom, isOk, isStaleCode, replyError } from './replies/command-reply.js'
export { writeAgreedCompression, writeHelloLimits } from './replies/hello-reply.js'
export { helpOf } from './replies/help.js'
export { uuidText } from './replies/uuid-text.js'
export { aggregateErrorContext, withContext, withExecutorContext } from './replies/with-context.js'
export { checkAnalysedNamespace } from './sampling/analysed-namespace.js'
export { SampleTracker } from './sampling/sample-tracker.js'
export type { SamplingReport } from './sampling/sampling-report.js'
export { isTransient, mayRetryAfter, relabelled, withErrorLabels } from './sessions/error-labels.js'
export { killSessionsHere } from './sessions/kill-sessions.js'
export {
  clientSession,
  isInternalSession,
  SessionCatalog,
  sessionLimits,
  sessionParts,
  sessionTimeoutMinutes,
  type ParentSession,
  type SessionId,
  type SessionKey,
  type SessionParts,
} from './sessions/session-catalog.js'
export { checkSessionsCollection, sessionDocuments } from './sessions/session-documents.js'
export { type SessionOptions, readSessionOptions } from './sessions/session-options.js'
export { endsTransaction } from './sessions/transaction-commands.js'
export {
  noUserDigest,
  sessionDocumentsArgument,
  sessionsByPattern,
  sessionsNamed,
  sessionsOfUsers,
  type SessionPredicate,
} from './sessions/session-patterns.js'
export { wantsSingleReply, withSingleReply } from './aggregation/single-reply.js'
export { aggregateSpec, argumentsOfAggregate, checkCursorArgument, namespaceOfAggregate } from './specs/aggregate.js'
export {
  type BulkWriteOp,
  bulkWriteBatchSize,
  bulkWriteNs,
  bulkWriteSpec,
  readBulkWrite,
  readStatement,
} from './specs/bulk-write.js'
export { cloneCollectionAsCappedSpec } from './specs/clone-collection-as-capped.js'
export { abortTransactionSpec } from './specs/abort-transaction.js'
export { commitTransactionSpec } from './specs/commit-transaction.js'
export { collModSpec } from './specs/coll-mod.js'
export { chunksNamespace, chunksOfFile, fileMd5Spec } from './specs/file-md5.js'
export { collStatsSpec } from './specs/coll-stats.js'
export { compactSpec } from './specs/compact.js'
export { convertToCappedSpec } from './specs/convert-to-capped.js'
export { type CountQuery, compileCount, countBounds, countSpec, writeCount } from './specs/count.js'
export { createIndexesSpec } from './specs/create-indexes.js'
export { createFields, createSpec } from './specs/create.js'
export { currentOpSpec } from './specs/current-op.js'
export { dataSizeSpec } from './specs/data-size.js'
export { dbStatsSpec } from './specs/db-stats.js'
export { deleteSpec } from './specs/delete.js'
export { type DistinctQuery, compileDistinct, distinctSpec } from './specs/distinct.js'
export { dropDatabaseSpec } from './specs/drop-database.js'
export { dropIndexesSpec } from './specs/drop-indexes.js'
export { dropSpec } from './specs/drop.js'
export {
  type Verbosity,
  cannotExplain,
  explainSpec,
  explainedCommand,
  shownCommand,
  unknownCommand,
  verbosityOf,
  withoutExplain,
  withoutGenericArguments,
} from './specs/explain.js'
export {
  type FindAndModifyRequest,
  countInReply,
  findAndModifySpec,
  readFindAndModify,
} from './specs/find-and-modify.js'
export {
  type FindQuery,
  checkFindArguments,
  compileFind,
  findOptionsOf,
  findSpec,
  tailableModeOf,
  findError,
} from './specs/find.js'
export { fsyncSpec } from './specs/fsync.js'
export { fsyncUnlockSpec } from './specs/fsync-unlock.js'
export { getCmdLineOptsSpec, writeCommandLine } from './specs/get-cmd-line-opts.js'
export { getDefaultRWConcernSpec } from './specs/get-default-rw-concern.js'
export { cursorIdOf, defaultAwaitMs, getMoreBatchSize, getMoreNamespace, getMoreSpec } from './specs/get-more.js'
export { getShardVersionSpec } from './specs/get-shard-version.js'
export { helloSpec } from './specs/hello.js'
export { insertSpec } from './specs/insert.js'
export { isMasterSpec } from './specs/is-master.js'
export { killAllSessionsByPatternSpec } from './specs/kill-all-sessions-by-pattern.js'
export { killAllSessionsSpec } from './specs/kill-all-sessions.js'
export { closeCursors, killCursorsSpec } from './specs/kill-cursors.js'
export { killOpSpec, operationIdOf } from './specs/kill-op.js'
export { killSessionsSpec } from './specs/kill-sessions.js'
export { listCollectionsSpec } from './specs/list-collections.js'
export { listDatabasesSpec } from './specs/list-databases.js'
export { listIndexesSpec } from './specs/list-indexes.js'
export { planCacheClearFiltersSpec } from './specs/plan-cache-clear-filters.js'
export { checkShape, planCacheClearSpec } from './specs/plan-cache-clear.js'
export { planCacheListFiltersSpec } from './specs/plan-cache-list-filters.js'
export { planCacheSetFilterSpec } from './specs/plan-cache-set-filter.js'
export { type RenameRequest, renameCollectionSpec, renameRequest } from './specs/rename-collection.js'
export { removeQuerySettingsSpec } from './specs/remove-query-settings.js'
export { replSetGetStatusSpec } from './specs/repl-set-get-status.js'
export { serverStatusSpec } from './specs/server-status.js'
export { setDefaultRWConcernSpec } from './specs/set-default-rw-concern.js'
export { setQuerySettingsSpec } from './specs/set-query-settings.js'
export { splitVectorSpec } from './specs/split-vector.js'
export { updateSpec } from './specs/update.js'
export { checkValidateOptions, validateSpec } from './specs/validate.js'
export { writeEmptyStorageStats } from './statistics/empty-storage-stats.js'
export { Latencies, latencyClassOf } from './statistics/latency.js'
export { MemberStatistics, bytesOfMessage } from './statistics/member-statistics.js'
export { type StatusMetrics, type StatusSection, writeServerStatus } from './statistics/server-status.js'
export { commandOnView, viewReply } from './views/command-on-view.js'
export { explainBody } from './views/explain-on-view.js'
export { type ResolvedView, resolvedViewError, resolvedViewOf } from './views/resolved-view.js'
export { checkStages, compileStatement, upsertedDocument } from './writes/compile-statement.js'
export { errorText } from './writes/error-text.js'
export { asCreateIndexes, indexesCreated, insertsIndex, systemIndexes } from './writes/index-insert.js'
export {
  type DeleteStatement,
  type ModifyKind,
  type ModifyStatement,
  type UpdateStatement,
  type WriteStatement,
  checkedStatements,
  readModify,
  sortWithMulti,
} from './writes/statement.js'
export { type WriteKind, statementArguments, statementsOf, writeRetriedStmtIds } from './writes/write-statements.js'
export { clusterParameters, parseClusterParameter, writeClusterParameters } from './parameters/cluster-parameters.js'
export { getClusterParameterSpec } from './specs/get-cluster-parameter.js'
export { setClusterParameterSpec } from './specs/set-cluster-parameter.js'
export { lastErrorOf, noteLastError, unsatisfiedW, writeLastError } from './connections/last-error.js'
export { checkLastErrors, getLastErrorSpec } from './specs/get-last-error.js'
export { leavePrimary } from './operations/leave-primary.js'
export {
  checkConcernOfStream,
  isChangeStream,
  parseChangeStream,
  startingAt,
  type ChangeStreamSpec,
} from './change-streams/change-stream-spec.js'
export {
  eventToken,
  highWaterMark,
  parseToken,
  tokenDocument,
  tokenText,
  tokenTime,
  type ParsedToken,
  type ResumeToken,
  type TokenVersion,
} from './change-streams/resume-token.js'
export { fragmentsOf, type SplitOptions } from './change-streams/split-event.js'
export { covers, coversDatabase, type StreamScope } from './change-streams/stream-scope.js'
export { checkTokenIsKept, tokenNotFound, withStreamLabel } from './change-streams/stream-errors.js'
