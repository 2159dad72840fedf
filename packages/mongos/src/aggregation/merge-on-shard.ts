/** Having a shard merge what the others send. Server: `dispatchMergingPipeline` of cluster_aggregation_planner.cpp. */
import { DocumentWriter } from '@shardlab/bson'
import type { BufferedCursor } from '../cursors/remote-cursor.js'
import type { RemoteCommand } from '../remote/remote.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { bodyForMerger } from './aggregate-body.js'
import type { SplitPlan } from './plan-aggregate.js'
import type { Planned } from './planned.js'

/** The shard that is to merge; null: the router merges. Where any shard may, one of those that take part is drawn. */
export function shardToMerge(
  { invocation: { host } }: Planned,
  { members, mergerPart, merge }: SplitPlan,
): string | null {
  if (merge.onRouter) return null
  const prohibited = host.parameters.bool('internalQueryProhibitMergingOnMongoS')
  // Without a stage nothing is left to a shard that has to be asked for it.
  if (!prohibited && (merge.type === 'mongos' || mergerPart.length === 0)) return null
  return merge.required ?? merge.joins?.primaryShard ?? members[host.mergeDice.below(members.length)]!
}

export interface MergeOpening {
  readonly merger: string
  /** The batches are the client's. */
  readonly isClients: boolean
  /** @throws CommandError of a shard or of the way to it; then none is open */
  readonly openCursors: () => Promise<readonly BufferedCursor[]>
}

/**
 * Opens the cursors on the other shards and hands them to the merging one; until that has said that it has them, they are the router's.
 * @param send the command to the merging shard, once: what it has read of the cursors is gone
 * @throws CommandError of a shard or of the way to it, 13388 StaleConfig and 249 StaleDbVersion when a joined collection is elsewhere
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
    const body = bodyForMerger(invocation, {
      stages: plan.mergerPart,
      source,
      collation,
      nowMs: evaluation.nowMs,
      isClients,
    })
    return await send({ db: invocation.db, body, sequences: [], ...versionsOf(planned, plan), stmtIds: null })
  } catch (error) {
    for (const { cursor } of cursors) cursor.kill(host)
    throw error
  }
}

/** Of its collection the merging shard reads nothing, so that any version will do; what it joins has to be on the primary shard. */
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

/** The stage that hands the cursors over. Server: async_results_merger_params.idl. */
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
    writer.startDocument(String(i)).string('shardId', cursor.shard).string('hostAndPort', host.hostOf(cursor.shard))
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
