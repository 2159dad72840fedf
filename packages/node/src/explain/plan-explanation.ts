/**
 * `queryPlanner` and `executionStats` of one plan. Manual: reference/explain-results. Server: explain.cpp,
 * generatePlannerInfo and generateExecutionInfo.
 */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import type { Filter, SortPattern } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import {
  describeExecution,
  describeFilter,
  describePlan,
  executePlan,
  type Collection,
  type ExecuteOptions,
  type ExplainStyle,
  type PlanExecutor,
  type QueryPlan,
} from '@shardlab/storage'
import type { StorageNode } from '../storage-node.js'
import { planCacheKey, queryHash, type QueryShape } from './query-hash.js'
import type { Verbosity } from './verbosity.js'

/** A query that is explained. */
export interface ExplainedPlan {
  readonly ns: string
  readonly filter: Filter
  readonly sort: SortPattern | null
  readonly projection: Uint8Array | null
  /** All fields of the query's collation; null: the simple one. */
  readonly collation: Uint8Array | null
  /** Null: there is no such collection. */
  readonly collection: Collection | null
  /** Null where there is no collection. */
  readonly plan: QueryPlan | null
  readonly execute?: ExecuteOptions
  /** Works through the rows. Default: to the end. */
  readonly run?: (executor: PlanExecutor) => void
  /** What stands above the plan: a stage of a write, told before and after it ran. Default: nothing. */
  readonly above?: StageAbove
}

/** A stage above a plan, which storage does not know. */
export interface StageAbove {
  readonly stage: string
  /** Rows that the stage hands on, and what only this kind of stage tells of its run. */
  outcome(): { readonly returned: number; readonly counters: readonly (readonly [name: string, value: number])[] }
}

/** Fields `queryPlanner` and, unless the verbosity is `queryPlanner`, `executionStats`. */
export function writePlanExplanation(
  writer: DocumentWriter,
  host: StorageNode,
  explained: ExplainedPlan,
  verbosity: Verbosity,
): DocumentWriter {
  writePlanner(writer, host, explained)
  return verbosity === 'queryPlanner' ? writer : writeExecution(writer, host, explained, verbosity)
}

function writePlanner(writer: DocumentWriter, { behaviours }: StorageNode, explained: ExplainedPlan): void {
  const { ns, filter, collation, collection } = explained
  const format = behaviours.explainFormat
  writer.startDocument('queryPlanner')
  if (format === '4.4') writer.int32('plannerVersion', 1)
  writer.string('namespace', ns)
  if (format !== '8.0') writer.bool('indexFilterSet', false)
  writer.document('parsedQuery', describeFilter(filter.root))
  if (collation !== null) writer.document('collation', collation)
  if (format === '8.0') writer.bool('indexFilterSet', false)
  if (collection !== null) {
    const shape: QueryShape = { filter: filter.root, sort: explained.sort, projection: explained.projection, collation }
    const hash = queryHash(shape)
    writer.string('queryHash', hash)
    if (format === '8.0') writer.string('planCacheShapeHash', hash)
    writer.string('planCacheKey', planCacheKey(shape, collection))
  }
  if (format === '7.0' || format === '8.0') writer.int32('optimizationTimeMillis', 0)
  if (format !== '4.4') {
    writer.bool('maxIndexedOrSolutionsReached', false).bool('maxIndexedAndSolutionsReached', false).bool('maxScansToExplodeReached', false)
  }
  if (format === '8.0') writer.bool('prunedSimilarIndexes', false)
  const { above, plan } = explained
  const style = styleOf(behaviours, above)
  writer.document('winningPlan', withTop(behaviours, above, plan === null ? endOfNothing(style) : describePlan(plan.root, style)))
  const rejected = plan?.rejected ?? []
  writer.documents(
    'rejectedPlans',
    rejected.map((root) => withTop(behaviours, above, describePlan(root, style))),
  )
  writer.end()
}

function writeExecution(
  writer: DocumentWriter,
  { behaviours, context }: StorageNode,
  explained: ExplainedPlan,
  verbosity: Verbosity,
): DocumentWriter {
  const { above } = explained
  const startedMs = context.now()
  const executor = explained.plan === null ? null : executePlan(explained.plan, explained.execute)
  const failure = executor === null ? null : runOf(explained, executor)
  const durationMs = context.now() - startedMs
  const stats = executor?.stats
  const style = styleOf(behaviours, above)
  const stages = executor === null ? endOfNothing(style, true) : describeExecution(executor.root, style)
  writer.startDocument('executionStats').bool('executionSuccess', failure === null)
  if (failure !== null) writer.string('errorMessage', failure.message).int32('errorCode', failure.code)
  writer
    .int32('nReturned', above === undefined ? (stats?.returned ?? 0) : above.outcome().returned)
    .int32('executionTimeMillis', durationMs)
    .int32('totalKeysExamined', stats?.keysExamined ?? 0)
    .int32('totalDocsExamined', stats?.docsExamined ?? 0)
    .document('executionStages', withTop(behaviours, above, stages, true))
  if (verbosity === 'allPlansExecution') writer.startArray('allPlansExecution').end()
  return writer.end()
}

function runOf({ run }: ExplainedPlan, executor: PlanExecutor): CommandError | null {
  try {
    if (run === undefined) while (executor.next() !== null) continue
    else run(executor)
    return null
  } catch (error) {
    if (error instanceof CommandError) return error
    throw error
  }
}

/** From 8.0 on the top stage says whether the plan came from the cache, which an explain's never does, and lookups by `_id` have a stage of their own. */
function styleOf({ explainFormat }: Behaviours, above: StageAbove | undefined): ExplainStyle {
  const modern = explainFormat === '8.0' && above === undefined
  return { express: modern, isCached: modern }
}

function withTop({ explainFormat }: Behaviours, above: StageAbove | undefined, input: Uint8Array, ran = false): Uint8Array {
  if (above === undefined) return input
  const top = stageAbove(above, input, ran)
  return explainFormat === '8.0' ? new DocumentWriter(top.length + 16).bool('isCached', false).fields(top).finish() : top
}

function stageAbove(above: StageAbove, input: Uint8Array, ran: boolean): Uint8Array {
  const writer = new DocumentWriter(input.length + 256).string('stage', above.stage)
  if (ran) {
    const { returned, counters } = above.outcome()
    const works = findField(input, 'works')?.asNumber() ?? 0
    writer
      .int32('nReturned', returned)
      .int32('executionTimeMillisEstimate', 0)
      .int32('works', works)
      .int32('advanced', returned)
      .int32('needTime', Math.max(0, works - returned - 1))
      .int32('needYield', 0)
      .int32('saveState', 0)
      .int32('restoreState', 0)
      .int32('isEOF', 1)
    for (const [name, value] of counters) writer.int32(name, value)
  }
  return writer.document('inputStage', input).finish()
}

/** The plan where there is no collection. */
function endOfNothing({ isCached }: ExplainStyle, ran = false): Uint8Array {
  const writer = new DocumentWriter(256)
  if (isCached === true) writer.bool('isCached', false)
  writer.string('stage', 'EOF')
  if (!ran) return writer.finish()
  return writer
    .int32('nReturned', 0)
    .int32('executionTimeMillisEstimate', 0)
    .int32('works', 1)
    .int32('advanced', 0)
    .int32('needTime', 0)
    .int32('needYield', 0)
    .int32('saveState', 0)
    .int32('restoreState', 0)
    .int32('isEOF', 1)
    .finish()
}
