import { CommandError, findField, type RawValue } from '@shardlab/bson'
import {
  compilePipeline,
  evaluateDocuments,
  mergeCursorsStage,
  type EvaluationContext,
  type Pipeline,
} from '@shardlab/query'
import type { Collection, PlanExecutor, QueryPlan } from '@shardlab/storage'
import {
  isChangeStream,
  evaluationOf,
  withTimeLimit,
  hintOf,
  listSource,
  emptySource,
  memoryLimitBytes,
  stageMemoryOf,
  withConstants,
} from '@shardlab/member'
import { checkCollectionUuid } from '../../ddl/collection-uuid.js'
import { catchUpKeys } from '../catch-up-keys.js'
import { newSlice } from '../new-slice.js'
import { PlanSource } from '../read-source.js'
import { checkTableScan } from '../table-scan.js'
import type { CursorSource } from '../../cursors/cursor-manager.js'
import { nodeStageSources } from '../sources/node-sources.js'
import { enterForeign } from './foreign-collections.js'
import { planLeading } from './leading-plan.js'
import { mergedCursors } from './merged-cursors.js'
import { PipelineSource } from './pipeline-source.js'
import { ReadAheadSource } from './read-ahead-source.js'
import type { NodeInvocation } from '../../host/node-host.js'

export interface BoundPipeline {
  readonly pipeline: Pipeline
  /** undefined: the collection does not exist */
  readonly collection: Collection | undefined
  readonly evaluation: EvaluationContext
  /**
   * Argument of the `$mergeCursors` that a router put first; null: the pipeline reads the
   * collection
   */
  readonly merged: RawValue | null
}

/**
 * @param stages without `$out` or `$merge`
 * @throws CommandError those of {@link compilePipeline}, 9 FailedToParse for `let` before 5.0
 */
export function bindPipeline(invocation: NodeInvocation, ns: string, stages: readonly Uint8Array[]): BoundPipeline {
  const { host, args, db, routed } = invocation
  const collection = host.readable(ns)
  const inherits = host.behaviours.changeStreamsInheritCollation || !isChangeStream(stages)
  const collation = inherits ? (collection?.defaultCollation ?? null) : null
  const constants = withConstants(evaluationOf(host, args, collation), args)
  const evaluation = withTimeLimit(constants, invocation.operation)
  // Only members may send `$mergeCursors`; one from a client stays among the stages and is refused.
  const merged = (routed === null ? undefined : stages[0] && findField(stages[0], mergeCursorsStage)) ?? null
  const pipeline = compilePipeline(merged === null ? stages : stages.slice(1), evaluation, {
    db,
    memoryLimitBytes: stageMemoryOf(args, host.behaviours),
    ...(merged === null ? { target: args.target.isNumber() ? 'none' : 'collection' } : {}),
  })
  return { pipeline, collection, evaluation, merged }
}

/** For explain. */
export interface PipelineWatch {
  /** Documents that each stage has emitted, see {@link Pipeline.open}. */
  readonly emitted: number[]
  /** Called with the plan and executor on the collection, before anything is read. */
  leading(plan: QueryPlan, executor: PlanExecutor): void
}

/**
 * Reads only documents that the shard owns.
 * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion, errors of sources and plans
 */
export async function openPipeline(
  invocation: NodeInvocation,
  ns: string,
  bound: BoundPipeline,
  watch?: PipelineWatch,
): Promise<CursorSource> {
  const { host, args, db } = invocation
  const { pipeline, evaluation, merged } = bound
  const allowDiskUse = stageMemoryOf(args, host.behaviours) === Infinity
  const slice = newSlice(host)
  const foreignOptions = {
    db,
    evaluation,
    memoryLimitBytes: allowDiskUse ? Infinity : memoryLimitBytes,
    slice,
    querySettings: invocation.querySettings,
  }
  if (merged !== null) {
    const reader = await enterForeign(invocation, pipeline.foreign, foreignOptions)
    return new PipelineSource(mergedCursors(invocation, merged, evaluation.strings), pipeline.open(), reader, slice)
  }
  const waiting = catchUpKeys(host, invocation.operation, host.readable(ns))
  if (waiting !== null) await waiting
  const { ownership } = await host.role.enter(ns, invocation)
  checkCollectionUuid(host, ns, args)
  // Needed even without other collections: a join may read $documents.
  const reader = await enterForeign(invocation, pipeline.foreign, foreignOptions)
  const { source } = pipeline
  if (source !== null) {
    const input =
      source.name === '$documents'
        ? listSource(evaluateDocuments(source.argument, evaluation))
        : await sourceNamed(source.name).open({ invocation, ns, argument: source.argument, ownership })
    return new PipelineSource(input, pipeline.open(watch?.emitted), reader, slice)
  }
  // Look the collection up again: it may have changed during the await.
  const collection = host.readable(ns)?.snapshot()
  if (collection === undefined) return new PipelineSource(emptySource, pipeline.open(watch?.emitted), reader, slice)
  const plan = planLeading(collection, pipeline.leading, ownership, evaluation, hintOf(args), invocation.querySettings)
  checkTableScan(host, plan, hintOf(args).hint)
  const rows = new PlanSource(plan, { slice, execute: { allowDiskUse }, effort: host.statistics.queries, host })
  watch?.leading(plan, rows.executor)
  const isPlanAlone =
    host.behaviours.cursorsFollowTheirCollection && pipeline.leading.stageCount === pipeline.stages.length
  const input = isPlanAlone ? rows : new ReadAheadSource(rows, plan, host.behaviours.pipelineReadAhead)
  return new PipelineSource(input, pipeline.openAfterLeading(watch?.emitted), reader, slice)
}

function sourceNamed(name: string) {
  const source = nodeStageSources.get(name)
  if (source === undefined) throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`)
  return source
}
