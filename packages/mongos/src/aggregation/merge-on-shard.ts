/** Server: `dispatchMergingPipeline` of cluster_aggregation_planner.cpp. */
import { DocumentWriter } from '@shardlab/bson'
import type { BufferedCursor } from '../cursors/remote-cursor.js'
import type { RemoteCommand } from '../remote/remote.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { bodyWithSettings } from '../routing/settings-of-command.js'
import { bodyForMerger } from './aggregate-body.js'
import type { SplitPlan } from './plan-aggregate.js'
import type { Planned } from './planned.js'

/** Null: the router merges. If any shard may merge, one of the participants is drawn at random. */
export function shardToMerge(
  { invocation: { host } }: Planned,
  { members, mergerPart, merge }: SplitPlan,
): string | null {
  if (merge.onRouter) return null
  const prohibited = host.parameters.bool('internalQueryProhibitMergingOnMongoS')
  // An empty merging part is left to a shard only if routers may not merge.
  if (!prohibited && (merge.type === 'mongos' || mergerPart.length === 0)) return null
  return merge.required ?? merge.joins?.primaryShard ?? members[host.mergeDice.below(members.length)]!
}

export interface MergeOpening {
  readonly merger: string
  readonly isClients: boolean
  /** @throws CommandError of a shard or of the request to it; then no cursor is open */
  readonly openCursors: () => Promise<readonly BufferedCursor[]>
}

/**
 * The router owns the cursors until the merging shard has replied.
 * @param send sends the command to the merging shard, once: a repetition would lose what the first
 *   attempt read from the cursors
 * @throws CommandError of a shard or of the request to it; 13388 StaleConfig and 249 StaleDbVersion
 *   when a joined collection is on another shard
 */
export async function mergeOnShard<T>(
  planned: Planned,
  plan: SplitPlan,
  { merger, isClients, openCursors }: MergeOpening,
  send: (command: RemoteCommand) => Promise<T>,
): Promise<T> {
  const { invocation, ns, evaluation, collation } = planned
  const { host } = invocation
  const cursors = await openCursors()
  try {
    await host.reach('mongos.aggregate.merging', { ns, shard: merger })
    const source = mergeCursors(invocation, ns, plan, cursors)
    const merging = bodyForMerger(invocation, {
      stages: plan.mergerPart,
      source,
      collation,
      nowMs: evaluation.now(),
      isClients,
    })
    const body = bodyWithSettings(invocation, merging)
    return await send({ db: invocation.db, body, sequences: [], ...versionsOf(planned, plan), stmtIds: null })
  } catch (error) {
    for (const { cursor } of cursors) cursor.kill(host)
    throw error
  }
}

/**
 * The merging shard reads nothing of the aggregate's collection, so any shard version will do.
 * Joined collections must be on the primary shard.
 */
function versionsOf(
  { invocation }: Planned,
  { merge: { joins }, to }: SplitPlan,
): Pick<RemoteCommand, 'shardVersion' | 'databaseVersion'> {
  if (invocation.concerns.read.level === 'available' || to === null)
    return { shardVersion: null, databaseVersion: null }
  return joins === null
    ? { shardVersion: 'IGNORED', databaseVersion: null }
    : { shardVersion: 'UNSHARDED', databaseVersion: joins.version }
}

/** Server: async_results_merger_params.idl. */
function mergeCursors(
  { host, session }: MongosInvocation,
  ns: string,
  { mergeSort }: SplitPlan,
  cursors: readonly BufferedCursor[],
): Uint8Array {
  const writer = new DocumentWriter(512).startDocument('$mergeCursors')
  if (session !== null) writer.document('lsid', session.document)
  if (mergeSort !== null) writer.document('sort', mergeSort)
  writer.bool('compareWholeSortKey', false).startArray('remotes')
  cursors.forEach(({ cursor }, i) => {
    writer.startDocument(String(i)).string('shardId', cursor.shard).string('hostAndPort', host.hostOf(cursor.receiver))
    writer.startDocument('cursorResponse').startDocument('cursor')
    writer.int64('id', cursor.id).string('ns', cursor.ns).startArray('firstBatch').end().end()
    writer.double('ok', 1).end().end()
  })
  return writer
    .end()
    .string('tailableMode', 'normal')
    .string('nss', ns)
    .bool('allowPartialResults', false)
    .bool('recordRemoteOpWaitTime', false)
    .end()
    .finish()
}
