/**
 * The first stages are explained as a plan, the others as they run. Manual:
 * reference/method/db.collection.aggregate, explain. Server: `Explain::explainPipeline`,
 * `Pipeline::writeExplainOps`, document_source_cursor.cpp.
 */
import { CommandError, DocumentWriter, emptyDocument } from '@shardlab/bson'
import { compileFilter, parseSort, type LeadingQuery } from '@shardlab/query'
import { stageMemoryOf, hintOf, shownStages } from '@shardlab/member'
import { readAll } from '../../cursors/resume-source.js'
import { planLeading } from '../aggregation/leading-plan.js'
import { bindPipeline, openPipeline, type BoundPipeline } from '../aggregation/open-pipeline.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation, type ExecutedPlan, type ExplainedPlan } from './plan-explanation.js'

export async function explainAggregate(request: ExplainRequest, writer: DocumentWriter): Promise<ExplainTail> {
  const { invocation, ns, verbosity } = request
  const { args } = invocation
  if (args.bool('explain') === true)
    throw new CommandError('FailedToParse', "The 'explain' option is illegal when a explain verbosity is also provided")
  const stages = args.pipeline()!
  const bound = bindPipeline(invocation, ns, stages)
  const { pipeline } = bound
  const runs = verbosity !== 'queryPlanner'
  if (runs && pipeline.writer !== null)
    throw new CommandError(51184, `explain of ${pipeline.writer.name} is not allowed with verbosity ${verbosity}`)
  const rest = pipeline.source === null ? pipeline.stages.slice(pipeline.leading.stageCount) : pipeline.stages
  const { explainShowsWholePlans, explainCursorsShowQuery, explainCountsStageResults } = invocation.host.behaviours
  if (pipeline.source === null && rest.length === 0 && explainShowsWholePlans) {
    await writePlanExplanation(writer, invocation, leadingPlan(request, bound, null), verbosity)
    return { isPipeline: false }
  }
  const ran = runs ? await runPipeline(request, bound) : null
  writer.startArray('stages')
  let position = 0
  if (pipeline.source === null) {
    const explained = leadingPlan(request, bound, ran)
    writer.startDocument(String(position++)).startDocument('$cursor')
    if (explainCursorsShowQuery) writeLeading(writer, pipeline.leading)
    await writePlanExplanation(writer, invocation, explained, verbosity)
    writer.end()
    if (ran !== null && explainCountsStageResults) writeRun(writer, ran.executed?.executor.stats.returned ?? 0)
    writer.end()
  }
  for (const { shown, last } of shownStages(rest)) {
    writer.startDocument(String(position++)).fields(shown)
    if (ran !== null && explainCountsStageResults) writeRun(writer, ran.emitted.at(last - rest.length)!)
    writer.end()
  }
  writer.end()
  return { isPipeline: true }
}

interface PipelineRan {
  /** Documents that each stage has emitted; the stages after the leading ones are last. */
  readonly emitted: readonly number[]
  /** Null: the collection does not exist, or the pipeline has another source. */
  readonly executed: ExecutedPlan | null
}

/** @throws CommandError as the aggregate would */
async function runPipeline({ invocation, ns }: ExplainRequest, bound: BoundPipeline): Promise<PipelineRan> {
  const { context } = invocation.host
  const emitted: number[] = []
  const leading: Pick<ExecutedPlan, 'plan' | 'executor'>[] = []
  const startedMs = context.now()
  const source = await openPipeline(invocation, ns, bound, {
    emitted,
    leading: (plan, executor) => leading.push({ plan, executor }),
  })
  await readAll(invocation, source, () => {})
  const [read] = leading
  const durationMs = context.now() - startedMs
  return { emitted, executed: read === undefined ? null : { ...read, durationMs, failure: null } }
}

function leadingPlan(
  { invocation, ns, access }: ExplainRequest,
  { pipeline, evaluation }: BoundPipeline,
  ran: PipelineRan | null,
): ExplainedPlan {
  const { host, args } = invocation
  const collection = host.readable(ns) ?? null
  const { leading } = pipeline
  const executed = ran?.executed ?? null
  return {
    ns,
    collection,
    filter: compileFilter(leading.filter ?? emptyDocument, evaluation),
    sort: leading.sort === null ? null : parseSort(leading.sort),
    projection: leading.projection?.document ?? null,
    collation: collationOf(args.document('collation'), collection),
    plan:
      executed?.plan ??
      (collection === null
        ? null
        : planLeading(collection, leading, access.ownership, evaluation, hintOf(args), invocation.querySettings)),
    execute: { allowDiskUse: stageMemoryOf(args, host.behaviours) === Infinity },
    express: args.has('hint') ? 'none' : leading.sort === null && leading.skip === 0 ? 'equality' : 'id',
    ...(executed === null ? {} : { executed }),
  }
}

/** Server: document_source_cursor.cpp, serialize. */
function writeLeading(writer: DocumentWriter, { filter, sort, limit, projection }: LeadingQuery): void {
  writer.document('query', filter ?? emptyDocument)
  if (sort !== null) writer.document('sort', sort)
  if (limit > 0) writer.int64('limit', limit)
  if (projection !== null) writer.document('fields', projection.document)
}

function writeRun(writer: DocumentWriter, returned: number): void {
  writer.int64('nReturned', returned).int64('executionTimeMillisEstimate', 0)
}
