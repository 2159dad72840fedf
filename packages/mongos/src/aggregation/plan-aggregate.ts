/** Which part of a pipeline runs where. Server: sharded_agg_helpers.cpp, cluster_aggregation_planner.cpp. */
import { CommandError } from '@shardlab/bson'
import { splitBeforeJoins, splitPipeline, type ForeignCollection, type OuterStage, type Pipeline } from '@shardlab/query'
import type { MongosInvocation } from '../command/invocation.js'
import { soleMember, type Route } from '../routing/route.js'
import { targetRead } from '../routing/target-read.js'
import { mongosStageSources } from '../sources/mongos-sources.js'
import type { MongosStageSource } from '../sources/source.js'
import { routedToPrimary, type RoutedTo } from '../statistics/routed.js'

export type AggregatePlan =
  /** There is no such database. */
  | { readonly kind: 'nothing' }
  /** The router gives the documents and runs the rest. */
  | { readonly kind: 'router'; readonly source: MongosStageSource | '$documents' }
  /** One member runs all of it. */
  | { readonly kind: 'member'; readonly member: string; readonly to: RoutedTo | null }
  /** Members run the first part, the router the rest on what they send. */
  | {
      readonly kind: 'split'
      readonly members: readonly string[]
      readonly shardsPart: readonly Uint8Array[]
      readonly mergerPart: readonly Uint8Array[]
      /** Null: the streams have no order. */
      readonly mergeSort: Uint8Array | null
      readonly to: RoutedTo | null
    }

export interface PlanOptions {
  readonly ns: string
  readonly route: Route
  readonly pipeline: Pipeline
  /** Joins run on the router, whatever the catalog says of the other collections. */
  readonly joinsOnRouter: boolean
}

/**
 * @throws CommandError 40324 for a source that routers do not have, 28769 NamespaceCannotBeSharded for joins before 5.1, and what routing fails with
 */
export async function planAggregate(
  invocation: MongosInvocation,
  { ns, route, pipeline, joinsOnRouter }: PlanOptions,
): Promise<AggregatePlan> {
  const { source, foreign } = pipeline
  const stages = pipeline.writer === null ? pipeline.stages : pipeline.stages.slice(0, -1)
  const place = source === null ? null : placeOf(source)
  if (place?.kind === 'router') return place
  if (place?.kind === 'every-shard') {
    const members = await invocation.host.shards.ids(invocation.operation)
    return { kind: 'split', members, ...splitPipeline(stages), to: null }
  }
  if (route.kind === 'missing') return { kind: 'nothing' }
  const joinsHere = foreign.length > 0 && (route.kind === 'sharded' || joinsOnRouter || (await anySharded(invocation, foreign)))
  if (joinsHere) await checkJoins(invocation, foreign)
  if (route.kind !== 'sharded') {
    const member = soleMember(route)
    const to = routedToPrimary(ns, route, member)
    return joinsHere ? { kind: 'split', members: [member], ...splitBeforeJoins(stages), to } : { kind: 'member', member, to }
  }
  const { args } = invocation
  const targeting =
    source === null
      ? targetRead(invocation, route.placement, pipeline.leadingFilter ?? undefined, args.document('collation'))
      : targetRead(invocation, route.placement, undefined, undefined)
  const to: RoutedTo = { ns, route, ...targeting }
  const [only, ...others] = targeting.shards
  if (others.length > 0) return { kind: 'split', members: targeting.shards, ...splitPipeline(stages), to }
  return joinsHere ? { kind: 'split', members: targeting.shards, ...splitBeforeJoins(stages), to } : { kind: 'member', member: only!, to }
}

/** Null: where the collection is. */
function placeOf({
  name,
  argument,
}: OuterStage): { readonly kind: 'router'; readonly source: MongosStageSource | '$documents' } | { readonly kind: 'every-shard' } | null {
  if (name === '$documents') return { kind: 'router', source: '$documents' }
  const source = mongosStageSources.get(name)
  if (source === undefined) throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`)
  const place = source.place(argument)
  if (place === 'router') return { kind: 'router', source }
  return place === 'every-shard' ? { kind: 'every-shard' } : null
}

/** What is in no database of a user is the same on every member. */
function isUsers(invocation: MongosInvocation, { db }: ForeignCollection): boolean {
  return db === null || db === invocation.db
}

async function anySharded(invocation: MongosInvocation, foreign: readonly ForeignCollection[]): Promise<boolean> {
  for (const each of foreign) if (await isSharded(invocation, each)) return true
  return false
}

async function isSharded(invocation: MongosInvocation, foreign: ForeignCollection): Promise<boolean> {
  const { host, db, operation } = invocation
  if (!isUsers(invocation, foreign) || db === 'config' || db === 'admin') return false
  const ns = `${db}.${foreign.collection}`
  const cached = host.catalog.peekCollection(ns)
  return (cached === undefined ? await host.catalog.collection(ns, operation) : cached) !== null
}

/** Before 5.1 $lookup and $graphLookup read no sharded collections. */
async function checkJoins(invocation: MongosInvocation, foreign: readonly ForeignCollection[]): Promise<void> {
  if (invocation.host.behaviours.queryLanguage >= 5.1) return
  for (const each of foreign)
    if (each.stage !== '$unionWith' && (await isSharded(invocation, each)))
      throw new CommandError('NamespaceCannotBeSharded', `${invocation.db}.${each.collection} cannot be sharded`)
}
