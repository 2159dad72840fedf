/** An aggregate that has its place, and the commands of its members. */
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

/** An aggregate that has been checked and given its place. */
export interface Planned {
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

/** A member's joins say which database it has to be the primary shard of. */
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

/** Opens the cursors that are to be merged. `onShard`: by one of the shards. */
export async function openCursors(
  planned: Planned,
  { members, shardsPart, mergerPart, to }: SplitPlan,
  counts: boolean,
  onShard: boolean,
): Promise<readonly BufferedCursor[]> {
  const { invocation, evaluation, pipeline } = planned
  const merges = mergerPart.length > 0 || pipeline.writer !== null
  await noteTargeted(planned, members)
  const body = bodyForMembers(invocation, shardsPart, { merges, onShard, nowMs: evaluation.nowMs })
  // What goes to every shard, whatever it owns, bears no versions.
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

/** Owners are those of chunks of any collection of the pipeline. Server: updateHostsTargetedMetrics of cluster_aggregate.cpp. */
function targetsOf({ host, db }: MongosInvocation, { route, shards }: RoutedTo, { foreign }: Pipeline): CountedTargets {
  const shardCount = shards.length
  if (foreign.length === 0) return { command: 'aggregate', shardCount }
  const owners = new Set(route.kind === 'sharded' ? route.placement.table.owners() : [])
  for (const { db: foreignDb, collection } of foreign) {
    // Planning has looked them up.
    const placement = host.catalog.peekCollection(`${foreignDb ?? db}.${collection}`)
    if (placement != null && !placement.isUnsplittable) for (const owner of placement.table.owners()) owners.add(owner)
  }
  return { command: 'aggregate', shardCount, ownerCount: owners.size }
}
