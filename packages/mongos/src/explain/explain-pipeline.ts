/** Server: sharded_agg_helpers.cpp, appendExplainResults. */
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import {
  argumentsOfAggregate,
  commandOnView,
  evaluationOf,
  namespaceOfAggregate,
  queryShapeHashOf,
  resolvedViewOf,
  shownStages,
  withoutExplain,
  writeServerInfo,
  writeServerParameters,
  type Verbosity,
} from '@shardlab/member'
import { compilePipeline, type Pipeline } from '@shardlab/query'
import { bodyForMembers } from '../aggregation/aggregate-body.js'
import { planAggregate, type AggregatePlan, type MemberPlan } from '../aggregation/plan-aggregate.js'
import { commandToMember } from '../aggregation/planned.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeEmptyCursor } from '../cursors/cursor-reply.js'
import { askAll } from '../reads/ask-all.js'
import { placementOf, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { askForExplains, wrappedIn, writeCommand } from './ask-for-explains.js'
import { writeShardPipelines } from './merge-explains.js'

/**
 * Without the database it is an empty cursor, as the aggregate itself.
 * @throws CommandError those of the aggregate
 */
export async function explainPipeline(invocation: MongosInvocation, verbosity: Verbosity): Promise<DocumentWriter> {
  const { args } = invocation
  if (args.bool('explain') === true)
    throw new CommandError('FailedToParse', "The 'explain' option is illegal when a explain verbosity is also provided")
  const ns = namespaceOfAggregate(invocation)
  try {
    return await withRoute(invocation, ns, false, (route) => explainOn(invocation, ns, route, verbosity))
  } catch (error) {
    const view = resolvedViewOf(error)
    if (view === null) throw error
    const { body, ofView = body } = invocation
    return explainPipeline({ ...withBody(invocation, commandOnView(body, view)), ofView }, verbosity)
  }
}

/** `{ aggregate, explain: true }` is the same as an explain without statistics. */
export function explainItself(invocation: MongosInvocation): Promise<DocumentWriter> {
  return explainPipeline(withBody(invocation, withoutExplain(invocation.body)), 'queryPlanner')
}

function withBody(invocation: MongosInvocation, body: Uint8Array): MongosInvocation {
  return { ...invocation, body, args: argumentsOfAggregate(body, invocation.host.behaviours) }
}

async function explainOn(
  invocation: MongosInvocation,
  ns: string,
  route: Route,
  verbosity: Verbosity,
): Promise<DocumentWriter> {
  const { args, db, host } = invocation
  const context = evaluationOf(host, args, placementOf(route)?.defaultCollation ?? null)
  const pipeline = compilePipeline(args.pipeline()!, context, {
    db,
    target: args.target.isNumber() ? 'none' : 'collection',
  })
  const plan = await planAggregate(invocation, { ns, route, pipeline, joinsOnRouter: false })
  if (plan.kind === 'nothing') return writeEmptyCursor(ns)
  const writer = new DocumentWriter(4096)
  if (host.behaviours.explainShowsWholePlans) writeServerParameters(writeServerInfo(writer, host), host)
  if (plan.kind === 'member' && route.kind === 'unsharded' && host.behaviours.unshardedPipelinesPassThrough)
    return explainOnPrimary(writer, invocation, { ns, route, plan, verbosity })
  await writePlan(writer, invocation, { ns, route, pipeline, plan, verbosity, nowMs: context.now() })
  if (host.behaviours.explainHasQueryShapeHash) writeShapeHash(writer, invocation)
  return writeCommand(writer, invocation)
}

function writeShapeHash(writer: DocumentWriter, { body, db, ofView = body }: MongosInvocation): void {
  const hash = queryShapeHashOf(ofView, db)
  if (hash !== null) writer.string('queryShapeHash', hash)
}

/**
 * On an unsharded collection the reply is the shard's own. Server: cluster_aggregation_planner.cpp,
 * runPipelineOnPrimaryShard.
 */
async function explainOnPrimary(
  writer: DocumentWriter,
  invocation: MongosInvocation,
  { ns, route, plan, verbosity }: Pick<Explained, 'ns' | 'route' | 'verbosity'> & { plan: MemberPlan },
): Promise<DocumentWriter> {
  await invocation.host.reach('mongos.read.targeted', { ns, shards: [plan.member] })
  const [answer] = await askMember(invocation, { route, plan, verbosity })
  for (const it = new FieldIterator(answer![1]); it.next();)
    if (!memberFields.has(it.name())) writer.value(it.name(), it.value())
  return writer
}

function askMember(
  invocation: MongosInvocation,
  { route, plan, verbosity }: Pick<Explained, 'route' | 'verbosity'> & { plan: MemberPlan },
): Promise<(readonly [member: string, reply: Uint8Array])[]> {
  const wrapped = wrappedIn(invocation, invocation.body, verbosity)
  return askAll(invocation, [plan.member], () => commandToMember({ invocation, route }, plan, wrapped))
}

const memberFields: ReadonlySet<string> = new Set([
  'serverInfo',
  'serverParameters',
  'ok',
  '$clusterTime',
  'operationTime',
])

interface Explained {
  readonly ns: string
  readonly route: Route
  readonly pipeline: Pipeline
  readonly plan: Exclude<AggregatePlan, { kind: 'nothing' }>
  readonly verbosity: Verbosity
  readonly nowMs: number
}

async function writePlan(
  writer: DocumentWriter,
  invocation: MongosInvocation,
  { ns, route, pipeline, plan, verbosity, nowMs }: Explained,
): Promise<DocumentWriter> {
  const { host } = invocation
  switch (plan.kind) {
    case 'router':
      writer.null('splitPipeline').startDocument('mongos').string('host', host.context.endpoint)
      return writer.documents('stages', shownOf(pipeline.stages)).end()
    case 'member':
      await host.reach('mongos.read.targeted', { ns, shards: [plan.member] })
      writer.null('splitPipeline')
      return writeShardPipelines(writer, invocation, await askMember(invocation, { route, plan, verbosity }))
    case 'split': {
      const { members, merge, mergerPart, mergeSort, shardsPart, to } = plan
      await host.reach('mongos.read.targeted', { ns, shards: members })
      if (host.behaviours.routersMerge) writer.string('mergeType', merge.type)
      if (merge.type === 'specificShard') writer.string('mergeShardId', merge.required!)
      writer.startDocument('splitPipeline').documents('shardsPart', shownOf(shardsPart))
      const written = pipeline.writer === null ? [] : pipeline.stages.slice(-1)
      const source = host.behaviours.explainShowsMergeCursors ? [mergeCursors(ns, mergeSort)] : []
      writer.documents('mergerPart', [...source, ...shownOf([...mergerPart, ...written])]).end()
      const ofMembers = bodyForMembers(invocation, shardsPart, { merges: true, nowMs })
      const answers = await askForExplains(
        invocation,
        to === null ? { kind: 'config' } : route,
        members,
        ofMembers,
        verbosity,
      )
      return writeShardPipelines(writer, invocation, answers)
    }
  }
}

function shownOf(stages: readonly Uint8Array[]): Uint8Array[] {
  return shownStages(stages).map(({ shown }) => shown)
}

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
