/** An aggregate on a router, from the command to its reply or to a stream of documents. Server: cluster_aggregate.cpp. */
import { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, documentsOf, findField } from '@shardlab/bson'
import {
  aggregateFields,
  batchSizeOf,
  checkLet,
  collationOf,
  commandOnView,
  emptySource,
  evaluationOf,
  listSource,
  namespaceOfAggregate,
  resolvedViewOf,
  stageMemoryOf,
  TimeLimit,
  withConstants,
  withTimeLimit,
  writeResults,
} from '@shardlab/node'
import { compilePipeline, evaluateDocuments, parseSort, type EvaluationContext, type Pipeline, type PipelineRun } from '@shardlab/query'
import type { MongosInvocation } from '../command/invocation.js'
import { writeEmptyCursor } from '../cursors/cursor-reply.js'
import type { DocumentStream } from '../cursors/document-stream.js'
import { PipelineStream } from '../cursors/pipeline-stream.js'
import { ResultsMerger } from '../cursors/results-merger.js'
import { documentOrder } from '../cursors/sort-key-order.js'
import { SourceStream } from '../cursors/source-stream.js'
import { establishCursors, openMerged, openOnOne } from '../reads/open-cursor.js'
import { isStaleCode, replyError } from '../remote/command-reply.js'
import { routedCommand, soleMember, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { noteRouted, type CountedTargets, type RoutedTo } from '../statistics/routed.js'
import { bodyForMembers } from './aggregate-body.js'
import { ForeignReads } from './foreign-reads.js'
import { planAggregate, type AggregatePlan } from './plan-aggregate.js'
import { routerSink } from './router-sink.js'

/** An aggregate that has been checked and given its place. */
interface Planned {
  /** On what it runs: the collection below, for a view. */
  readonly invocation: MongosInvocation
  readonly ns: string
  readonly route: Route
  readonly pipeline: Pipeline
  readonly plan: AggregatePlan
  readonly evaluation: EvaluationContext
  /** With all its fields; null: the simple one. */
  readonly collation: Uint8Array | null
  /** What `evaluation` is under. */
  readonly timeLimit: TimeLimit | null
}

/**
 * Answers a client's aggregate.
 * @throws CommandError whatever it is refused with
 */
export async function runAggregate(invocation: MongosInvocation): Promise<DocumentWriter> {
  checkLet(invocation)
  // What the client named, be it a view.
  const cursorNs = invocation.cursorNs ?? namespaceOfAggregate(invocation)
  const batchSize = batchSizeOf(invocation.args)
  const written = await withPlan(invocation, async (planned) => {
    const { pipeline, plan } = planned
    if (pipeline.writer !== null) return { planned, stream: await openStream(planned, true) }
    const traits = { noTimeout: false, batchSize }
    if (plan.kind === 'nothing') return writeEmptyCursor(cursorNs)
    const opening = { ...planned.invocation, cursorNs }
    if (plan.kind !== 'member') return openMerged(opening, cursorNs, await openStream(planned, true), { ...traits, singleBatch: false })
    await noteTargeted(planned, [plan.member])
    const command = routedCommand(opening, planned.route, plan.member, opening.body)
    const reply = await openOnOne(opening, plan.member, command, traits)
    noteTo(planned, plan.to, true)
    return reply
  })
  if (written instanceof DocumentWriter) return written
  await writeAway(invocation, written.planned, written.stream)
  return writeEmptyCursor(cursorNs)
}

/** The documents of an aggregate that is part of another one. @throws CommandError as {@link runAggregate} */
function openAggregate(invocation: MongosInvocation): Promise<DocumentStream> {
  return withPlan(invocation, (planned) => openStream(planned, false))
}

/** $out and $merge: what was opened is read to the end here, outside of all attempts. */
async function writeAway(
  invocation: MongosInvocation,
  { pipeline, evaluation, collation }: Planned,
  stream: DocumentStream,
): Promise<void> {
  const results = {
    async next() {
      for (;;) {
        const document = stream.take()
        if (document !== null || stream.done) return document
        await stream.fill(invocation)
      }
    },
  }
  try {
    await writeResults(pipeline.writer!, invocation.db, results, routerSink(invocation, evaluation, collation))
  } finally {
    stream.kill(invocation.host)
  }
}

/** Plans, and plans again while routing turns out to be stale, or the collection to be a view. */
async function withPlan<T>(invocation: MongosInvocation, attempt: (planned: Planned) => Promise<T>): Promise<T> {
  const ns = namespaceOfAggregate(invocation)
  // A shard that finds out that another collection of the pipeline is sharded cannot join.
  let joinsOnRouter = false
  try {
    return await withRoute(invocation, ns, false, async (route) => {
      try {
        return await attempt(await planOn(invocation, ns, route, joinsOnRouter))
      } catch (error) {
        joinsOnRouter ||= isStaleElsewhere(error, ns)
        throw error
      }
    })
  } catch (error) {
    const view = resolvedViewOf(error)
    if (view === null) throw error
    const body = commandOnView(invocation.body, view)
    return withPlan({ ...invocation, body, args: CommandArguments.parse(body, aggregateFields) }, attempt)
  }
}

function isStaleElsewhere(error: unknown, ns: string): boolean {
  if (!(error instanceof CommandError) || !isStaleCode(error.code) || error.extra === null) return false
  const named = findField(error.extra, 'ns')
  return named?.type === BsonType.string && named.asString() !== ns
}

async function planOn(invocation: MongosInvocation, ns: string, route: Route, joinsOnRouter: boolean): Promise<Planned> {
  const { args, db, host } = invocation
  const stages = args.documents('pipeline')!
  const given = collationOf(args.document('collation'))
  let collation = given ?? (route.kind === 'sharded' ? route.placement.defaultCollation : null)
  const timeLimit = timeLimitOf(invocation)
  let evaluation = withTimeLimit(withConstants(evaluationOf(host, args, collation), args), { timeLimit })
  const pipeline = compilePipeline(stages, evaluation, {
    db,
    memoryLimitBytes: stageMemoryOf(args, host.behaviours),
    target: args.target.isNumber() ? 'none' : 'collection',
  })
  const plan = await planAggregate(invocation, { ns, route, pipeline, joinsOnRouter })
  const runsHere = pipeline.writer !== null || plan.kind === 'split'
  if (runsHere && route.kind === 'unsharded' && !args.has('collation')) {
    // Of an unsharded collection only its shard knows the collation.
    collation = await unshardedCollation(invocation, ns, route)
    evaluation = { ...withTimeLimit(evaluationOf(host, args, collation), { timeLimit }), nowMs: evaluation.nowMs }
  }
  return { invocation, ns, route, pipeline, plan, evaluation, collation, timeLimit }
}

function timeLimitOf({ host, operation: { startedAtMs, deadlineMs } }: MongosInvocation): TimeLimit | null {
  return deadlineMs === null ? null : new TimeLimit(() => host.context.now(), startedAtMs, deadlineMs - startedAtMs)
}

async function unshardedCollation(
  invocation: MongosInvocation,
  ns: string,
  route: Extract<Route, { kind: 'unsharded' }>,
): Promise<Uint8Array | null> {
  const { host, db, operation } = invocation
  const writer = new DocumentWriter(128).int32('listCollections', 1).startDocument('filter')
  const body = writer
    .string('name', ns.slice(db.length + 1))
    .end()
    .startDocument('cursor')
    .end()
    .string('$db', db)
    .finish()
  const member = soleMember(route)
  const command = { db, body, sequences: [], shardVersion: null, databaseVersion: route.database.version, stmtIds: null }
  const reply = await host.remote.command(member, command, operation, true)
  const error = replyError(reply.body)
  if (error !== null) throw error
  const cursor = findField(reply.body, 'cursor')!
  const [found] = documentsOf(findField(cursor.bytes, 'firstBatch', cursor.start)!)
  const options = found === undefined ? undefined : findField(found, 'options')
  return (options === undefined ? undefined : findField(options.bytes, 'collation', options.start))?.slice() ?? null
}

/** `counts`: it is the client's command, not a part of one. */
async function openStream(planned: Planned, counts: boolean): Promise<DocumentStream> {
  const { plan, invocation, ns, pipeline, evaluation } = planned
  switch (plan.kind) {
    case 'nothing':
      return new SourceStream(emptySource)
    case 'router': {
      const { argument } = pipeline.source!
      const source =
        plan.source === '$documents'
          ? listSource(evaluateDocuments(argument, evaluation))
          : await plan.source.open!({ invocation, ns, argument })
      return overPipeline(planned, new SourceStream(source), pipeline.open())
    }
    case 'member': {
      const stages = pipeline.writer === null ? pipeline.stages : pipeline.stages.slice(0, -1)
      return openOnMembers(
        planned,
        { ...plan, kind: 'split', members: [plan.member], shardsPart: stages, mergerPart: [], mergeSort: null },
        counts,
      )
    }
    case 'split':
      return openOnMembers(planned, plan, counts)
  }
}

async function openOnMembers(
  planned: Planned,
  { members, shardsPart, mergerPart, mergeSort, to }: Extract<AggregatePlan, { kind: 'split' }>,
  counts: boolean,
): Promise<DocumentStream> {
  const { invocation, evaluation, pipeline } = planned
  const merges = mergerPart.length > 0 || pipeline.writer !== null
  await noteTargeted(planned, members)
  const body = bodyForMembers(invocation, shardsPart, { merges, nowMs: evaluation.nowMs })
  // What goes to every shard, whatever it owns, bears no versions.
  const route: Route = to === null ? { kind: 'config' } : planned.route
  const { remotes } = await establishCursors(invocation, members, (member) => routedCommand(invocation, route, member, body))
  noteTo(planned, to, counts)
  const order = mergeSort === null ? null : documentOrder(parseSort(mergeSort), evaluation.strings)
  const batchSize = batchSizeOf(invocation.args) ?? 0
  const merger = new ResultsMerger(remotes, order, merges ? 0 : batchSize)
  if (mergerPart.length === 0) return merger
  const memoryLimitBytes = stageMemoryOf(invocation.args, invocation.host.behaviours)
  return overPipeline(planned, merger, compilePipeline(mergerPart, evaluation, { db: invocation.db, memoryLimitBytes }).open())
}

function overPipeline(
  { invocation, collation, timeLimit, evaluation: { nowMs } }: Planned,
  input: DocumentStream,
  run: PipelineRun,
): DocumentStream {
  return new PipelineStream(input, run, new ForeignReads(invocation, { collation, nowMs }, openAggregate), timeLimit)
}

function noteTargeted({ invocation, ns }: Planned, shards: readonly string[]): Promise<void> {
  return invocation.host.reach('mongos.read.targeted', { ns, shards })
}

function noteTo({ invocation, pipeline }: Planned, to: RoutedTo | null, counts: boolean): void {
  if (to === null) return
  noteRouted(invocation, counts ? [targetsOf(invocation, to, pipeline)] : [], to)
}

/** Owners are those of chunks of any collection of the pipeline. Server: updateHostsTargetedMetrics of cluster_aggregate.cpp. */
function targetsOf({ host, db }: MongosInvocation, { route, shards }: RoutedTo, { foreign }: Pipeline): CountedTargets {
  const shardCount = shards.length
  if (foreign.length === 0) return { command: 'aggregate', shardCount }
  const owners = new Set(route.kind === 'sharded' ? route.placement.table.owners() : [])
  for (const { db: foreignDb, collection } of foreign) {
    // Planning has looked them up.
    const placement = host.catalog.peekCollection(`${foreignDb ?? db}.${collection}`)
    for (const owner of placement?.table.owners() ?? []) owners.add(owner)
  }
  return { command: 'aggregate', shardCount, ownerCount: owners.size }
}
