/**
 * Explaining a pipeline: its first stages as a plan, the others as they are run. Manual: reference/method/db.collection.aggregate,
 * explain. Server: `Pipeline::writeExplainOps`, document_source_cursor.cpp.
 */
import { CommandError, DocumentWriter, emptyDocument, findField, firstFieldName } from '@shardlab/bson'
import { compileFilter, parseSort } from '@shardlab/query'
import { planLeading } from '../aggregation/leading-plan.js'
import { bindPipeline, openPipeline, stageMemoryOf, type BoundPipeline } from '../aggregation/open-pipeline.js'
import { hintOf } from '../crud/hint.js'
import { collationOf } from './collation.js'
import type { ExplainRequest } from './explainers.js'
import { writePlanExplanation, type ExplainedPlan } from './plan-explanation.js'

export async function explainAggregate(request: ExplainRequest, writer: DocumentWriter): Promise<void> {
  const { invocation, ns, verbosity } = request
  const { host, args } = invocation
  if (args.bool('explain') === true)
    throw new CommandError('FailedToParse', "The 'explain' option is illegal when a explain verbosity is also provided")
  const stages = args.documents('pipeline')!
  const bound = bindPipeline(invocation, ns, stages)
  const { pipeline } = bound
  const runs = verbosity !== 'queryPlanner'
  if (runs && pipeline.writer !== null)
    throw new CommandError(51184, `explain of ${pipeline.writer.name} is not allowed with verbosity ${verbosity}`)
  const rest = pipeline.source === null ? pipeline.stages.slice(pipeline.leading.stageCount) : pipeline.stages
  if (pipeline.source === null && rest.length === 0) {
    writePlanExplanation(writer, host, leadingPlan(request, bound), verbosity)
    return
  }
  const leadingStages = pipeline.stages.slice(0, pipeline.stages.length - rest.length)
  writer.startArray('stages')
  let position = 0
  if (pipeline.source === null) {
    writer.startDocument(String(position++)).startDocument('$cursor')
    writePlanExplanation(writer, host, leadingPlan(request, bound), verbosity).end()
    if (runs) writeRun(writer, await countRows(request, leadingStages))
    writer.end()
  }
  for (let i = 0; i < rest.length; i++) {
    writer.startDocument(String(position++)).fields(shownStage(rest[i]!))
    if (runs) writeRun(writer, await countRows(request, [...leadingStages, ...rest.slice(0, i + 1)]))
    writer.end()
  }
  writer.end()
}

function leadingPlan({ invocation, ns, access }: ExplainRequest, { pipeline, evaluation }: BoundPipeline): ExplainedPlan {
  const { host, args } = invocation
  const collection = host.collection(ns) ?? null
  const { leading } = pipeline
  return {
    ns,
    collection,
    filter: compileFilter(leading.filter ?? emptyDocument, evaluation),
    sort: leading.sort === null ? null : parseSort(leading.sort),
    projection: null,
    collation: collationOf(args.document('collation'), collection),
    plan: collection === null ? null : planLeading(collection, leading, access.ownership, evaluation, hintOf(args)),
    execute: { allowDiskUse: stageMemoryOf(args, host.behaviours) === Infinity },
  }
}

function writeRun(writer: DocumentWriter, returned: number): void {
  writer.int64('nReturned', returned).int64('executionTimeMillisEstimate', 0)
}

/** How many documents come out behind so many stages. */
async function countRows({ invocation, ns }: ExplainRequest, stages: readonly Uint8Array[]): Promise<number> {
  const source = await openPipeline(invocation, ns, bindPipeline(invocation, ns, stages))
  let count = 0
  while (source.next() !== null) count++
  return count
}

/** A stage as explain spells it: a sort by its key, counts as long integers. */
export function shownStage(stage: Uint8Array): Uint8Array {
  const name = firstFieldName(stage)!
  const argument = findField(stage, name)!
  if (name === '$sort') return new DocumentWriter(stage.length + 32).startDocument('$sort').value('sortKey', argument).end().finish()
  if (name === '$limit' || name === '$skip') return new DocumentWriter(32).int64(name, Math.trunc(argument.asNumber())).finish()
  return stage
}
