import type { EvaluationContext, Pipeline } from '@shardlab/query'
import type { TimeLimit } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { BufferedCursor } from '../cursors/remote-cursor.js'
import { establishCursors } from '../reads/open-cursor.js'
import type { RemoteCommand } from '../remote/remote.js'
import { routedCommand, type Route } from '../routing/route.js'
import { noteRouted, type CountedTargets, type RoutedTo } from '../statistics/routed.js'
import { bodyForMembers } from './aggregate-body.js'
import type { AggregatePlan, MemberPlan, SplitPlan } from './plan-aggregate.js'

export interface Planned {
  /** For a view: on the underlying collection. */
  readonly invocation: MongosInvocation
  readonly ns: string
  readonly route: Route
  readonly pipeline: Pipeline
  readonly plan: AggregatePlan
  readonly evaluation: EvaluationContext
  /** With all its fields; null: simple. */
  readonly collation: Uint8Array | null
  readonly timeLimit: TimeLimit | null
}

/**
 * For joins, the command carries the version of the database whose primary shard the member must
 * be.
 */
export function commandToMember(
  { invocation, route }: Pick<Planned, 'invocation' | 'route'>,
  { member, primaryOf }: MemberPlan,
  body: Uint8Array,
): RemoteCommand {
  const command = routedCommand(invocation, route, member, body)
  return command.shardVersion === null || primaryOf === null
    ? command
    : { ...command, databaseVersion: primaryOf.version }
}

export async function openCursors(
  planned: Planned,
  { members, shardsPart, mergerPart, to }: SplitPlan,
  counts: boolean,
  onShard: boolean,
): Promise<readonly BufferedCursor[]> {
  const { invocation, evaluation, pipeline } = planned
  const merges = mergerPart.length > 0 || pipeline.writer !== null
  await noteTargeted(planned, members)
  const body = bodyForMembers(invocation, shardsPart, { merges, onShard, nowMs: evaluation.now() })
  // A command to every shard regardless of ownership carries no versions.
  const route: Route = to === null ? { kind: 'config' } : planned.route
  const { remotes } = await establishCursors(invocation, members, (member) =>
    routedCommand(invocation, route, member, body),
  )
  noteTo(planned, to, counts)
  return remotes
}

export function noteTargeted({ invocation, ns }: Planned, shards: readonly string[]): Promise<void> {
  return invocation.host.reach('mongos.read.targeted', { ns, shards })
}

export function noteTo({ invocation, pipeline }: Planned, to: RoutedTo | null, counts: boolean): void {
  if (to === null) return
  noteRouted(invocation, counts ? [targetsOf(invocation, to, pipeline)] : [], to)
}

/**
 * Owners include those of all collections of the pipeline. Server: updateHostsTargetedMetrics of
 * cluster_aggregate.cpp.
 */
function targetsOf({ host, db }: MongosInvocation, { route, shards }: RoutedTo, { foreign }: Pipeline): CountedTargets {
  const shardCount = shards.length
  if (foreign.length === 0) return { command: 'aggregate', shardCount }
  const owners = new Set(route.kind === 'sharded' ? route.placement.table.owners() : [])
  for (const { db: foreignDb, collection } of foreign) {
    // Planning has loaded it.
    const placement = host.catalog.peekCollection(`${foreignDb ?? db}.${collection}`)
    if (placement != null && !placement.isUnsplittable) for (const owner of placement.table.owners()) owners.add(owner)
  }
  return { command: 'aggregate', shardCount, ownerCount: owners.size }
}
