/** Server: scatterGatherVersionedTargetByRoutingTableNoThrowOnStaleShardVersionErrors. */
import { requestFailure, RequestFailedError, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { errorDocument } from '@shardlab/bson'
import { databaseNameOf, isOk, isStaleCode, replyError } from '@shardlab/member'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { CoordinatorHost } from '../ddl-host.js'

export type DefinitionChange = RequestOf<'shard.change-definition'>

/** Server: kMaxNumStaleVersionRetries. */
const attemptsMax = 10

/**
 * The caller holds the lock. Members that have run the command are not asked again when another one
 * reports stale routing, since a chunk may move meanwhile.
 */
export async function askOwners(
  host: CoordinatorHost,
  change: DefinitionChange,
): Promise<ReplyOf<'shard.change-definition'>> {
  const { placements } = host
  const done = new Map<string, Uint8Array>()
  for (let attempt = 1; ; attempt++) {
    const placement = await placements.refreshCollection(change.ns)
    const replies = await ask(host, change, placement, done)
    const isStale = replies.some(([, body]) => isStaleCode(replyError(body)?.code ?? 0))
    if (!isStale || attempt === attemptsMax) {
      const answers = [...done, ...replies].sort(([a], [b]) => (a < b ? -1 : 1))
      return { sharded: placement !== null && !placement.isUnsplittable, answers, error: null }
    }
    for (const [member, body] of replies) if (isOk(body)) done.set(member, body)
  }
}

type Answer = readonly [member: string, body: Uint8Array]

async function ask(
  host: CoordinatorHost,
  change: DefinitionChange,
  placement: CollectionPlacement | null,
  done: ReadonlyMap<string, Uint8Array>,
): Promise<Answer[]> {
  const { context } = host.node
  const send = (member: string) => askMember(host, change, placement, member)
  if (placement === null) return [await send(context.address)]
  const owners = placement.table.owners()
  // The primary shard lists the collection's options even if it owns no chunk.
  const further = change.command === 'collMod' ? [context.address] : []
  if (!placement.isUnsplittable)
    return context.all([...new Set([...owners, ...further])].filter((member) => !done.has(member)).map(send))
  const home = await send(placement.table.lowestShard())
  if (isOk(home[1])) for (const member of further) if (member !== home[0]) await send(member)
  return [home]
}

async function askMember(
  { node: { context, clock } }: CoordinatorHost,
  { ns, body, sequences, databaseVersion }: DefinitionChange,
  placement: CollectionPlacement | null,
  member: string,
): Promise<Answer> {
  const versions =
    placement === null
      ? { shardVersion: 'UNSHARDED' as const, databaseVersion }
      : { shardVersion: placement.table.versionOn(member), databaseVersion: null }
  const command = {
    db: databaseNameOf(ns),
    body,
    sequences,
    ...versions,
    stmtIds: null,
    operationKey: 0,
    batchBytesMax: 0,
    clusterTime: clock.time,
  }
  try {
    return [member, (await context.request(member, 'node.command', command)).body]
  } catch (error) {
    if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
    return [member, errorDocument(requestFailure(error))]
  }
}
