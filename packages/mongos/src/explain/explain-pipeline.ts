/** Explaining an aggregate: which part of its pipeline runs where. Server: sharded_agg_helpers.cpp, appendExplainResults. */
import { CommandArguments } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import {
  aggregateFields,
  evaluationOf,
  namespaceOfAggregate,
  shownStages,
  withoutExplain,
  writeServerInfo,
  writeServerParameters,
  type Verbosity,
} from '@shardlab/node'
import { compilePipeline, type Pipeline } from '@shardlab/query'
import { bodyForMembers } from '../aggregation/aggregate-body.js'
import { planAggregate, type AggregatePlan } from '../aggregation/plan-aggregate.js'
import type { MongosInvocation } from '../command/invocation.js'
import type { Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { askForExplains, databaseNotFound, writeCommand } from './explain-on-shards.js'
import { writeShardPipelines } from './merge-explains.js'

/** @throws CommandError 26 NamespaceNotFound without the database, and whatever the aggregate itself would be refused with */
export function explainPipeline(invocation: MongosInvocation, verbosity: Verbosity): Promise<DocumentWriter> {
  const { args } = invocation
  if (args.bool('explain') === true)
    throw new CommandError('FailedToParse', "The 'explain' option is illegal when a explain verbosity is also provided")
  const ns = namespaceOfAggregate(invocation)
  return withRoute(invocation, ns, false, (route) => explainOn(invocation, ns, route, verbosity))
}

/** `{ aggregate, explain: true }`: the same as an explain without statistics. */
export function explainItself(invocation: MongosInvocation): Promise<DocumentWriter> {
  const body = withoutExplain(invocation.body)
  return explainPipeline({ ...invocation, body, args: CommandArguments.parse(body, aggregateFields) }, 'queryPlanner')
}

async function explainOn(invocation: MongosInvocation, ns: string, route: Route, verbosity: Verbosity): Promise<DocumentWriter> {
  const { args, db, host } = invocation
  const context = evaluationOf(host, args, route.kind === 'sharded' ? route.placement.defaultCollation : null)
  const pipeline = compilePipeline(args.documents('pipeline')!, context, { db, target: args.target.isNumber() ? 'none' : 'collection' })
  const plan = await planAggregate(invocation, { ns, route, pipeline, joinsOnRouter: false })
  const writer = writeServerParameters(writeServerInfo(new DocumentWriter(4096), host), host)
  if (plan.kind === 'member' && route.kind === 'unsharded' && host.behaviours.unshardedPipelinesPassThrough)
    return explainOnPrimary(writer, invocation, { ns, route, plan, verbosity })
  return writeCommand(await writePlan(writer, invocation, { ns, route, pipeline, plan, verbosity, nowMs: context.nowMs }), invocation)
}

/** Where nothing is sharded the shard's words are the answer. Server: cluster_aggregation_planner.cpp, runPipelineOnPrimaryShard. */
async function explainOnPrimary(
  writer: DocumentWriter,
  invocation: MongosInvocation,
  { ns, route, plan, verbosity }: Pick<Explained, 'ns' | 'route' | 'verbosity'> & { plan: Extract<AggregatePlan, { kind: 'member' }> },
): Promise<DocumentWriter> {
  await invocation.host.reach('mongos.read.targeted', { ns, shards: [plan.member] })
  const [answer] = await askForExplains(invocation, route, [plan.member], invocation.body, verbosity)
  for (const it = new FieldIterator(answer![1]); it.next();) if (!ofTheMember.has(it.name())) writer.value(it.name(), it.value())
  return writer
}

/** What each member says of itself and of its own reply. */
const ofTheMember: ReadonlySet<string> = new Set(['serverInfo', 'serverParameters', 'ok', '$clusterTime', 'operationTime'])

interface Explained {
  readonly ns: string
  readonly route: Route
  readonly pipeline: Pipeline
  readonly plan: AggregatePlan
  readonly verbosity: Verbosity
  readonly nowMs: number
}

async function writePlan(
  writer: DocumentWriter,
  invocation: MongosInvocation,
  { ns, route, pipeline, plan, verbosity, nowMs }: Explained,
): Promise<DocumentWriter> {
  const { body, db, host } = invocation
  switch (plan.kind) {
    case 'nothing':
      throw databaseNotFound(db)
    case 'router':
      writer.null('splitPipeline').startDocument('mongos').string('host', host.context.endpoint)
      return writer.documents('stages', shownOf(pipeline.stages)).end()
    case 'member':
      await host.reach('mongos.read.targeted', { ns, shards: [plan.member] })
      writer.null('splitPipeline')
      return writeShardPipelines(writer, invocation, await askForExplains(invocation, route, [plan.member], body, verbosity))
    case 'split': {
      const { members, mergerPart, mergeSort, shardsPart, to } = plan
      await host.reach('mongos.read.targeted', { ns, shards: members })
      writer.string('mergeType', 'mongos').startDocument('splitPipeline').documents('shardsPart', shownOf(shardsPart))
      const written = pipeline.writer === null ? [] : pipeline.stages.slice(-1)
      writer.documents('mergerPart', [mergeCursors(ns, mergeSort), ...shownOf([...mergerPart, ...written])]).end()
      const ofMembers = bodyForMembers(invocation, shardsPart, { merges: true, nowMs })
      const answers = await askForExplains(invocation, to === null ? { kind: 'config' } : route, members, ofMembers, verbosity)
      return writeShardPipelines(writer, invocation, answers)
    }
  }
}

function shownOf(stages: readonly Uint8Array[]): Uint8Array[] {
  return shownStages(stages).map(({ shown }) => shown)
}

/** The stage that takes in what the shards send. */
function mergeCursors(ns: string, sort: Uint8Array | null): Uint8Array {
  const writer = new DocumentWriter(256).startDocument('$mergeCursors')
  if (sort !== null) writer.document('sort', sort)
  return writer
    .bool('compareWholeSortKey', false)
    .string('tailableMode', 'normal')
    .string('nss', ns)
    .bool('allowPartialResults', false)
    .bool('recordRemoteOpWaitTime', false)
    .end()
    .finish()
}
