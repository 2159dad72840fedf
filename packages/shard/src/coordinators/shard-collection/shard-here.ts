/**
 * Run by the shard that has the documents of an unsharded collection: usually the primary shard.
 * Builds the shard key index, creates the collection on the shards that get chunks, commits.
 * Server: create_collection_coordinator.cpp.
 */
import { configAddress, packedCount, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, emptyDocument } from '@shardlab/bson'
import { buildIndex, createCollection, raiseError, retryUntilDone } from '@shardlab/node'
import { forEachShard } from '../participants.js'
import { logShardCollectionEnd, logShardCollectionStart } from './shard-collection-log.js'
import { planShardCollection, type ShardCollectionHost, type ShardCollectionPlan } from './shard-collection-plan.js'

export type ShardHereRequest = RequestOf<'shard.shard-collection-here'>

/** For the primary shard, which has the locks and has written a record. */
export function shardForPrimary(
  host: ShardCollectionHost,
  request: ShardHereRequest,
): Promise<ReplyOf<'shard.shard-collection-here'>> {
  const { ns, body } = request
  return host.critical.hold(ns, async () => {
    const plan = await planShardCollection(host, ns, body)
    if ('sharded' in plan) return { uuid: plan.sharded.uuid, error: null }
    if ('elsewhere' in plan)
      throw new CommandError('ConflictingOperationInProgress', `Collection ${ns} is now on ${plan.elsewhere}`)
    return { uuid: await shardHere(host, request, plan), error: null }
  })
}

/** The caller holds the collection's critical section. @returns the collection's UUID */
export async function shardHere(
  { node, placements }: ShardCollectionHost,
  { ns, primary, databaseUuid }: ShardHereRequest,
  plan: ShardCollectionPlan,
): Promise<Uint8Array> {
  const { context, behaviours } = node
  const { collection, request, index, chunks, isEmpty, wasTracked, plannedAt } = plan
  const { shardKey, unique } = request
  const uuid = collection?.uuid ?? uuidV4(context.random)
  const facts = { shardKey, uuid, isEmpty, chunkCount: packedCount(chunks) }
  await logShardCollectionStart(node, ns, facts)
  const local = collection ?? createCollection(node, ns, emptyDocument, { uuid })
  if (index !== null) buildIndex(node, local, index)
  await node.flushToMajority()
  const { options, defaultCollation } = local
  const others = [...new Set([primary, ...chunks[1]])].filter((shard) => shard !== context.address).sort()
  const indexes = local.indexes().map((each) => each.spec)
  const copy = { ns, uuid, options, indexes, move: null }
  await forEachShard(others, async (shard) =>
    raiseError((await context.request(shard, 'shard.create-local-collection', copy)).error),
  )
  await context.reach('shard.create-collection.participants-ready', { ns })
  const commit = {
    ns,
    uuid,
    key: shardKey.document,
    unique,
    defaultCollation,
    chunks,
    wasTracked,
    primary,
    databaseUuid,
    plannedAt,
  }
  // Repeating it has no effect.
  const committed = await retryUntilDone(node, () =>
    context.request(configAddress, 'config.commit-create-collection', commit),
  )
  raiseError(committed.error)
  await context.reach('shard.create-collection.committed', { ns })
  const placement = await placements.refreshCollection(ns)
  if (placement !== null) await logShardCollectionEnd(context, behaviours, ns, facts, placement.table.version)
  return uuid
}
