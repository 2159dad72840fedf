/** Server: sharded_agg_helpers.cpp, cluster_aggregation_planner.cpp. */
import { CommandError, documentValue } from '@shardlab/bson'
import {
  splitBeforeJoins,
  splitPipeline,
  type ForeignCollection,
  type OuterStage,
  type Pipeline,
  type SplitPipeline,
} from '@shardlab/query'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { isConfigDatabase, placementOf, soleMember, type Route } from '../routing/route.js'
import { targetRead } from '../routing/target-read.js'
import { mongosStageSources } from '../sources/mongos-sources.js'
import type { MongosStageSource } from '../sources/source.js'
import { routedBy, routedToPrimary, type RoutedTo } from '../statistics/routed.js'
import { areOnPrimary, mergeTypeOf, shardThatMerges, type MergedPipeline, type MergeType } from './merge-location.js'

type PresentRoute = Exclude<Route, { kind: 'missing' }>

export type AggregatePlan =
  /** The database does not exist. */
  | { readonly kind: 'nothing' }
  /** The router produces the documents and runs the rest. */
  | { readonly kind: 'router'; readonly source: MongosStageSource | '$documents' }
  | MemberPlan
  | SplitPlan

export interface MemberPlan {
  readonly kind: 'member'
  readonly member: string
  /** The database whose primary shard the member must be for its joins; null: no joins. */
  readonly primaryOf: DatabaseEntry | null
  readonly to: RoutedTo
}

/** One of the members or the router runs the second part on the output of the first. */
export interface SplitPlan {
  readonly kind: 'split'
  readonly members: readonly string[]
  readonly shardsPart: readonly Uint8Array[]
  readonly mergerPart: readonly Uint8Array[]
  /** Null: the streams are unordered. */
  readonly mergeSort: Uint8Array | null
  readonly to: RoutedTo | null
  readonly merge: Merge
}

export interface Merge {
  readonly type: MergeType
  /** Null: any shard may merge. */
  readonly required: string | null
  /** Its primary shard has the joined collections; null: no joins, or the router joins. */
  readonly joins: DatabaseEntry | null
  /** No shard can merge. */
  readonly onRouter: boolean
}

export interface PlanOptions {
  readonly ns: string
  readonly route: Route
  readonly pipeline: Pipeline
  /** Ignores the catalog's entries for the other collections. */
  readonly joinsOnRouter: boolean
}

/**
 * @throws CommandError 40324 for a source that routers do not have; 28769 NamespaceCannotBeSharded
 *   for joins before 5.1; those of routing
 */
export async function planAggregate(
  invocation: MongosInvocation,
  { ns, route, pipeline, joinsOnRouter }: PlanOptions,
): Promise<AggregatePlan> {
  const { source, foreign, writer } = pipeline
  const stages = writer === null ? pipeline.stages : pipeline.stages.slice(0, -1)
  const place = source === null ? null : placeOf(source, invocation)
  if (place?.kind === 'router') return place
  const planner: Planner = { invocation, stages, writer, joins: null }
  if (place?.kind === 'every-shard') {
    const members = await invocation.host.shards.ids(invocation.operation)
    const parts = splitPipeline(stages)
    const merge = foreign.length > 0 ? onRouter : await mergeOf(planner, parts)
    return { kind: 'split', members, ...parts, to: null, merge }
  }
  if (route.kind === 'missing') return { kind: 'nothing' }
  const targeting = targetsOf(invocation, ns, route, pipeline)
  const { shards: members } = targeting
  const [first] = members
  const to = routedBy(ns, route, targeting)
  if (foreign.length > 0 && (joinsOnRouter || (await areElsewhere(invocation, route, foreign)))) {
    await checkJoins(invocation, foreign)
    const parts = members.length > 1 ? splitPipeline(stages) : splitBeforeJoins(stages)
    return { kind: 'split', members, ...parts, to, merge: onRouter }
  }
  if (route.kind === 'config') return { kind: 'member', member: first!, primaryOf: null, to }
  const joins = foreign.length > 0 ? await databaseOf(invocation) : null
  const required = await shardThatMerges(invocation, { stages, writer })
  const isSplit =
    members.length > 1 || (required !== null && required !== first) || (joins !== null && joins.primaryShard !== first)
  if (!isSplit) return { kind: 'member', member: first!, primaryOf: joins, to }
  const parts = splitPipeline(stages)
  return { kind: 'split', members, ...parts, to, merge: await mergeOf({ ...planner, joins }, parts, required) }
}

interface Planner extends MergedPipeline {
  readonly invocation: MongosInvocation
  readonly joins: DatabaseEntry | null
}

const onRouter: Merge = { type: 'mongos', required: null, joins: null, onRouter: true }

async function mergeOf(
  { invocation, writer, joins }: Planner,
  { mergerPart }: SplitPipeline,
  required: string | null = null,
): Promise<Merge> {
  const type = mergeTypeOf(invocation, { stages: mergerPart, writer }, required)
  const shard = required ?? (type === 'primaryShard' ? (await databaseOf(invocation))?.primaryShard : null) ?? null
  // The owner of another database's collection cannot read the joined collections.
  const cannotJoin = joins !== null && shard !== null && shard !== joins.primaryShard
  return { type, required: shard, joins, onRouter: cannotJoin }
}

async function databaseOf({ host, db, operation }: MongosInvocation): Promise<DatabaseEntry | null> {
  return isConfigDatabase(db) ? null : host.catalog.database(db, operation)
}

function targetsOf(
  invocation: MongosInvocation,
  ns: string,
  route: PresentRoute,
  { source, leadingFilter }: Pipeline,
): Omit<RoutedTo, 'ns' | 'route'> {
  if (route.kind !== 'sharded') return routedToPrimary(ns, route, soleMember(route))
  const filter = source === null && leadingFilter !== null ? documentValue(leadingFilter) : undefined
  return targetRead(
    invocation,
    route.placement,
    filter,
    source === null ? invocation.args.document('collation') : undefined,
  )
}

/** Whether the joining member cannot read one of the collections locally. */
async function areElsewhere(
  invocation: MongosInvocation,
  route: PresentRoute,
  foreign: readonly ForeignCollection[],
): Promise<boolean> {
  return placementOf(route) === null ? anyTracked(invocation, foreign) : !(await areOnPrimary(invocation, foreign))
}

/** Null: on the owners of the collection. */
function placeOf(
  { name, argument }: OuterStage,
  invocation: MongosInvocation,
):
  | { readonly kind: 'router'; readonly source: MongosStageSource | '$documents' }
  | { readonly kind: 'every-shard' }
  | null {
  if (name === '$documents') return { kind: 'router', source: '$documents' }
  const source = mongosStageSources.get(name)
  if (source === undefined) throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`)
  const place = source.place(argument, invocation)
  if (place === 'router') return { kind: 'router', source }
  return place === 'every-shard' ? { kind: 'every-shard' } : null
}

function isInSameDatabase(invocation: MongosInvocation, { db }: ForeignCollection): boolean {
  return db === null || db === invocation.db
}

/** Whether a collection may be on another shard than the database's primary shard. */
async function anyTracked(invocation: MongosInvocation, foreign: readonly ForeignCollection[]): Promise<boolean> {
  for (const each of foreign) if (await isTracked(invocation, each)) return true
  return false
}

async function isTracked(invocation: MongosInvocation, foreign: ForeignCollection): Promise<boolean> {
  const { host, db, operation } = invocation
  if (!isInSameDatabase(invocation, foreign) || db === 'config' || db === 'admin') return false
  const ns = `${db}.${foreign.collection}`
  const cached = host.catalog.peekCollection(ns)
  return (cached === undefined ? await host.catalog.collection(ns, operation) : cached) !== null
}

/** @throws CommandError 28769 NamespaceCannotBeSharded */
async function checkJoins(invocation: MongosInvocation, foreign: readonly ForeignCollection[]): Promise<void> {
  if (invocation.host.behaviours.shardedCollectionsCanBeJoined) return
  for (const each of foreign)
    if (each.stage !== '$unionWith' && (await isTracked(invocation, each)))
      throw new CommandError('NamespaceCannotBeSharded', `${invocation.db}.${each.collection} cannot be sharded`)
}
