/** Server: cluster_aggregate.cpp. */
import { unversioned } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, documentsOf, findField } from '@shardlab/bson'
import {
  argumentsOfAggregate,
  batchSizeOf,
  collationOf,
  commandOnView,
  documentOrder,
  emptySource,
  isChangeStream,
  evaluationOf,
  listSource,
  namespaceOfAggregate,
  resolvedViewOf,
  stageMemoryOf,
  TimeLimit,
  withConstants,
  withStreamLabel,
  withTimeLimit,
  writeResults,
  TimeSlice,
  defaultSliceLimits,
} from '@shardlab/member'
import { compilePipeline, evaluateDocuments, parseSort, type PipelineRun } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'
import { openChangeStream } from '../change-streams/open-change-stream.js'
import { readCursorReply, writeEmptyCursor } from '../cursors/cursor-reply.js'
import type { DocumentStream } from '../cursors/document-stream.js'
import { PipelineStream } from '../cursors/pipeline-stream.js'
import { BufferedCursor, RemoteCursor } from '../cursors/remote-cursor.js'
import { ResultsMerger } from '../cursors/results-merger.js'
import { SourceStream } from '../cursors/source-stream.js'
import { establishCursors, openMerged, openOnOne, type CursorTraits } from '../reads/open-cursor.js'
import { isStaleCode, replyError } from '../remote/command-reply.js'
import { placementOf, soleMember, type Route, type UnshardedRoute } from '../routing/route.js'
import { ask } from '../routing/scatter.js'
import { withRoute } from '../routing/stale-loop.js'
import { bodyForMembers } from './aggregate-body.js'
import { ForeignReads } from './foreign-reads.js'
import { mergeOnShard, shardToMerge } from './merge-on-shard.js'
import { planAggregate, type SplitPlan } from './plan-aggregate.js'
import { commandToMember, noteTargeted, noteTo, openCursors, type Planned } from './planned.js'
import { routerSink } from './router-sink.js'

/** @throws CommandError of parsing, routing and the shards */
export async function runAggregate(invocation: MongosInvocation): Promise<DocumentWriter> {
  if (isChangeStream(invocation.args.pipeline()!)) {
    return openChangeStream(invocation, openAggregate).catch((error: unknown) => {
      throw withStreamLabel(error, invocation.host.behaviours)
    })
  }
  // The client may have named a view.
  const cursorNs = invocation.cursorNs ?? namespaceOfAggregate(invocation)
  const batchSize = batchSizeOf(invocation.args)
  const written = await withPlan(invocation, async (planned) => {
    const { pipeline, plan } = planned
    if (pipeline.writer !== null) return { planned, stream: await openStream(planned, true) }
    const traits = { noTimeout: false, batchSize }
    if (plan.kind === 'nothing') return writeEmptyCursor(cursorNs)
    const opening = { ...planned.invocation, cursorNs }
    const merger = plan.kind === 'split' ? shardToMerge(planned, plan) : null
    if (plan.kind === 'split' && merger !== null)
      return openOnMerger({ ...planned, invocation: opening }, plan, merger, traits)
    if (plan.kind !== 'member')
      return openMerged(opening, cursorNs, await openStream(planned, true), { ...traits, singleBatch: false })
    await noteTargeted(planned, [plan.member])
    const command = commandToMember(planned, plan, opening.body)
    const reply = await openOnOne(opening, plan.member, command, traits)
    noteTo(planned, plan.to, true)
    return reply
  })
  if (written instanceof DocumentWriter) return written
  await writeAway(invocation, written.planned, written.stream)
  return writeEmptyCursor(cursorNs)
}

function openOnMerger(
  planned: Planned,
  plan: SplitPlan,
  merger: string,
  traits: CursorTraits,
): Promise<DocumentWriter> {
  return mergeOnShard(
    planned,
    plan,
    { merger, isClients: true, openCursors: () => openCursors(planned, plan, true, true) },
    (command) => openOnOne(planned.invocation, merger, command, { ...traits, sentOnce: true }),
  )
}

/** @throws CommandError as {@link runAggregate} */
function openAggregate(invocation: MongosInvocation): Promise<DocumentStream> {
  return withPlan(invocation, (planned) => openStream(planned, false))
}

/** $out and $merge: reads the stream to its end here, outside of all attempts. */
async function writeAway(
  invocation: MongosInvocation,
  { ns, pipeline, evaluation, collation }: Planned,
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
    await writeResults(pipeline.writer!, invocation.db, results, routerSink(invocation, ns, evaluation, collation))
  } finally {
    stream.kill(invocation.host)
  }
}

/** Plans again after stale routing, or when the collection turns out to be a view. */
async function withPlan<T>(invocation: MongosInvocation, attempt: (planned: Planned) => Promise<T>): Promise<T> {
  const ns = namespaceOfAggregate(invocation)
  // A shard cannot join once it reports that another collection of the pipeline is sharded.
  let joinsOnRouter = false
  let staleJoins = 0
  try {
    return await withRoute(invocation, ns, false, async (route) => {
      const planned = await planOn(invocation, ns, route, joinsOnRouter)
      try {
        return await attempt(planned)
      } catch (error) {
        const stale = staleNamespace(error)
        if (stale !== null && planned.pipeline.foreign.length > 0) {
          // A first report may be about the aggregate's own collection: a join can read it, too,
          // through a view.
          joinsOnRouter ||= stale !== ns || ++staleJoins > 1
        }
        throw error
      }
    })
  } catch (error) {
    const view = resolvedViewOf(error)
    if (view === null) throw error
    const body = commandOnView(invocation.body, view)
    return withPlan({ ...invocation, body, args: argumentsOfAggregate(body, invocation.host.behaviours) }, attempt)
  }
}

/** Null: not a stale-routing error. */
function staleNamespace(error: unknown): string | null {
  if (!(error instanceof CommandError) || !isStaleCode(error.code) || error.extra === null) return null
  const named = findField(error.extra, 'ns')
  return named?.type === BsonType.string ? named.asString() : null
}

async function planOn(
  invocation: MongosInvocation,
  ns: string,
  route: Route,
  joinsOnRouter: boolean,
): Promise<Planned> {
  const { args, db, host } = invocation
  const stages = args.pipeline()!
  const given = collationOf(args.document('collation'))
  let collation = given ?? placementOf(route)?.defaultCollation ?? null
  const timeLimit = timeLimitOf(invocation)
  let evaluation = withTimeLimit(withConstants(evaluationOf(host, args, collation), args), { timeLimit })
  const pipeline = compilePipeline(stages, evaluation, {
    db,
    memoryLimitBytes: stageMemoryOf(args, host.behaviours),
    target: args.target.isNumber() ? 'none' : 'collection',
  })
  const plan = await planAggregate(invocation, { ns, route, pipeline, joinsOnRouter })
  const runsHere = pipeline.writer !== null || plan.kind === 'split'
  if (runsHere && route.kind === 'unsharded' && route.home === null && !args.has('collation')) {
    // For a collection that is not in the catalog, only its shard has the default collation.
    collation = await unshardedCollation(invocation, ns, route)
    evaluation = { ...withTimeLimit(evaluationOf(host, args, collation), { timeLimit }), now: evaluation.now }
  }
  return { invocation, ns, route, pipeline, plan, evaluation, collation, timeLimit }
}

function timeLimitOf({ host, operation: { startedAtMs, deadlineMs } }: MongosInvocation): TimeLimit | null {
  return deadlineMs === null ? null : new TimeLimit(() => host.context.now(), startedAtMs, deadlineMs - startedAtMs)
}

async function unshardedCollation(
  invocation: MongosInvocation,
  ns: string,
  route: UnshardedRoute,
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
  const command = { ...unversioned(db, body), databaseVersion: route.database.version }
  const reply = await host.remote.command(member, command, operation, true)
  const error = replyError(reply.body)
  if (error !== null) throw error
  const cursor = findField(reply.body, 'cursor')!
  const [found] = documentsOf(findField(cursor.bytes, 'firstBatch', cursor.start)!)
  const options = found === undefined ? undefined : findField(found, 'options')
  return (options === undefined ? undefined : findField(options.bytes, 'collation', options.start))?.slice() ?? null
}

/** @param counts whether this is the client's command, not a part of one */
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
      await noteTargeted(planned, [plan.member])
      const stages = pipeline.writer === null ? pipeline.stages : pipeline.stages.slice(0, -1)
      const body = bodyForMembers(invocation, stages, { merges: pipeline.writer !== null, nowMs: evaluation.now() })
      const { remotes } = await establishCursors(invocation, [plan.member], () => commandToMember(planned, plan, body))
      noteTo(planned, plan.to, counts)
      return new ResultsMerger(remotes, null, pipeline.writer === null ? (batchSizeOf(invocation.args) ?? 0) : 0)
    }
    case 'split': {
      const merger = shardToMerge(planned, plan)
      return merger === null ? mergeHere(planned, plan, counts) : streamFromMerger(planned, plan, merger, counts)
    }
  }
}

async function streamFromMerger(
  planned: Planned,
  plan: SplitPlan,
  merger: string,
  counts: boolean,
): Promise<DocumentStream> {
  const { invocation } = planned
  const opening = { merger, isClients: false, openCursors: () => openCursors(planned, plan, counts, true) }
  return mergeOnShard(planned, plan, opening, async (command) => {
    const answer = await ask(invocation, merger, command, false)
    if (answer.error !== null) throw answer.error
    const { id, ns, batch } = readCursorReply(answer.body, 'firstBatch')
    const cursor = new RemoteCursor({ shard: merger, receiver: answer.receiver, db: invocation.db, ns, id })
    return new ResultsMerger([new BufferedCursor(cursor, batch)], null, 0)
  })
}

async function mergeHere(planned: Planned, plan: SplitPlan, counts: boolean): Promise<DocumentStream> {
  const { invocation, evaluation, pipeline } = planned
  const { mergerPart, mergeSort } = plan
  const remotes = await openCursors(planned, plan, counts, false)
  const merges = mergerPart.length > 0 || pipeline.writer !== null
  const order = mergeSort === null ? null : documentOrder(parseSort(mergeSort), evaluation.strings)
  const merger = new ResultsMerger(remotes, order, merges ? 0 : (batchSizeOf(invocation.args) ?? 0))
  if (mergerPart.length === 0) return merger
  const memoryLimitBytes = stageMemoryOf(invocation.args, invocation.host.behaviours)
  return overPipeline(
    planned,
    merger,
    compilePipeline(mergerPart, evaluation, { db: invocation.db, memoryLimitBytes }).open(),
  )
}

function overPipeline(
  { invocation, collation, timeLimit, evaluation }: Planned,
  input: DocumentStream,
  run: PipelineRun,
): DocumentStream {
  const foreign = new ForeignReads(invocation, { collation, nowMs: evaluation.now() }, openAggregate)
  const slice = new TimeSlice(invocation.host.context, defaultSliceLimits)
  return new PipelineStream(input, run, foreign, timeLimit, slice)
}
