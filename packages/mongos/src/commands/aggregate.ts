import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import { aggregateFields, batchSizeOf, checkCursorArgument, collectionRequired } from '@shardlab/node'
import { compilePipeline, parseSort, splitPipeline } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { MongosInvocation } from '../command/invocation.js'
import { writeEmptyCursor } from '../cursors/cursor-reply.js'
import { PipelineStream } from '../cursors/pipeline-stream.js'
import { ResultsMerger } from '../cursors/results-merger.js'
import { documentOrder } from '../cursors/sort-key-order.js'
import { establishCursors, openMerged, openOnOne } from '../reads/open-cursor.js'
import { routedCommand, soleMember, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { targetRead } from '../routing/target-read.js'
import { noteRouted, routedToPrimary } from '../statistics/routed.js'

export const aggregate: CommandRow<MongosInvocation> = {
  name: 'aggregate',
  routing: 'shard-key',
  access: 'read',
  manual: 'reference/command/aggregate',
  status: 'partial',
  missing: 'stages with a data source of their own, merging on a shard',
  summary: 'Runs a pipeline on one shard, or its first part on several shards and the rest on the router.',
  fields: aggregateFields,
  run(invocation) {
    const { args, db, host } = invocation
    checkCursorArgument(args.document('cursor'), args.has('explain'))
    if (args.has('explain')) throw new CommandError('InvalidOptions', 'explain is not supported in aggregate')
    batchSizeOf(args.document('cursor'))
    host.statistics.opcounters.command++
    const collectionless = args.target.isNumber()
    const ns = collectionless ? `${db}.$cmd.aggregate` : `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, false, (route) => {
      if (collectionless && route.kind !== 'config') throw collectionRequired(args.documents('pipeline')!)
      return aggregateOn(invocation, ns, route)
    })
  },
}

async function aggregateOn(invocation: MongosInvocation, ns: string, route: Route): Promise<DocumentWriter> {
  const { args, body, host } = invocation
  const traits = { noTimeout: false, batchSize: batchSizeOf(args.document('cursor')) }
  if (route.kind === 'missing') return writeEmptyCursor(ns)
  if (route.kind !== 'sharded') {
    const member = soleMember(route)
    const reply = await openOnOne(invocation, member, routedCommand(invocation, route, member, body), traits)
    noteRouted(invocation, 'aggregate', routedToPrimary(ns, route, member))
    return reply
  }
  const stages = args.documents('pipeline')!
  const pipeline = compilePipeline(stages, host.evaluation())
  const targeting = targetRead(invocation, route.placement, pipeline.leadingFilter ?? undefined, args.document('collation'))
  await host.reach('mongos.read.targeted', { ns, shards: targeting.shards })
  const reply =
    targeting.shards.length === 1
      ? await openOnOne(invocation, targeting.shards[0]!, routedCommand(invocation, route, targeting.shards[0]!, body), traits)
      : await aggregateOnSeveral(invocation, ns, route, stages, targeting.shards, traits)
  noteRouted(invocation, 'aggregate', { ns, route, ...targeting })
  return reply
}

async function aggregateOnSeveral(
  invocation: MongosInvocation,
  ns: string,
  route: Route & { readonly placement: CollectionPlacement },
  stages: readonly Uint8Array[],
  shards: readonly string[],
  traits: { readonly noTimeout: boolean; readonly batchSize: number | undefined },
): Promise<DocumentWriter> {
  const { host } = invocation
  const { shardsPart, mergerPart, mergeSort } = splitPipeline(stages)
  const merges = mergerPart.length > 0
  const body = bodyForShards(invocation, shardsPart, merges)
  const { remotes } = await establishCursors(invocation, shards, (shard) => routedCommand(invocation, route, shard, body), false)
  const merger = new ResultsMerger(
    remotes,
    mergeSort === null ? null : documentOrder(parseSort(mergeSort)),
    merges ? 0 : (traits.batchSize ?? 0),
  )
  const stream = merges ? new PipelineStream(merger, compilePipeline(mergerPart, host.evaluation()).open()) : merger
  return openMerged(invocation, ns, stream, { ...traits, singleBatch: false, partial: false })
}

/** The shards' part of the pipeline; batches are the client's only where they go on to it. */
function bodyForShards({ body }: MongosInvocation, shardsPart: readonly Uint8Array[], merges: boolean): Uint8Array {
  const writer = new DocumentWriter(body.length + 128)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'pipeline') writer.documents('pipeline', shardsPart)
    else if (name === 'cursor' && merges) writer.startDocument('cursor').end()
    else writer.value(name, it.value())
  }
  return writer.bool('needsMerge', true).bool('fromMongos', true).finish()
}
