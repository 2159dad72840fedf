/**
 * Run by the primary shard: validate, build the shard key index, create the collection on the
 * shards that get chunks, commit.
 * Server: create_collection_coordinator.cpp.
 * Manual: reference/command/shardCollection.
 */
import { configAddress, packedCount, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { emptyDocument } from '@shardlab/bson'
import { buildIndex, createCollection, raiseError } from '@shardlab/node'
import { forEachShard } from '../participants.js'
import { raiseStaleDatabase } from '../primary-shard-check.js'
import { logShardCollectionEnd, logShardCollectionStart } from './shard-collection-log.js'
import { planShardCollection, type ShardCollectionHost } from './shard-collection-plan.js'

export async function createShardedCollection(
  host: ShardCollectionHost,
  { ns, body, databaseVersion }: RequestOf<'shard.create-sharded-collection'>,
): Promise<ReplyOf<'shard.create-sharded-collection'>> {
  const { node, placements } = host
  const { address } = node.context
  await raiseStaleDatabase(placements, address, ns, databaseVersion)
  return shardHere(host, { ns, body, primary: address })
}

/**
 * @param request `primary`: this shard, or the primary shard that has forwarded the request here
 */
export function shardHere(
  host: ShardCollectionHost,
  { ns, body, primary }: RequestOf<'shard.shard-collection-here'>,
): Promise<ReplyOf<'shard.shard-collection-here'>> {
  const { node, placements, critical } = host
  const { context, behaviours } = node
  return critical.hold(ns, async () => {
    const plan = await planShardCollection(host, ns, body)
    if ('sharded' in plan) return { uuid: plan.sharded.uuid, error: null }
    if ('elsewhere' in plan) {
      const { uuid, error } = await context.request(plan.elsewhere, 'shard.shard-collection-here', {
        ns,
        body,
        primary,
      })
      raiseError(error)
      await placements.refreshCollection(ns)
      return { uuid, error: null }
    }
    const { collection, request, index, chunks, isEmpty, wasTracked } = plan
    const { shardKey, unique } = request
    await context.reach('shard.create-collection.validated', { ns })
    const uuid = collection?.uuid ?? uuidV4(context.random)
    const facts = { shardKey, uuid, isEmpty, chunkCount: packedCount(chunks) }
    await logShardCollectionStart(node, ns, facts)
    const local = collection ?? createCollection(node, ns, emptyDocument, uuid)
    if (index !== null) buildIndex(node, local, index)
    await node.flush()
    const created = node.collection(ns)!
    const others = [...new Set([primary, ...chunks[1]])].filter((shard) => shard !== context.address).sort()
    const indexes = created.indexes().map((each) => each.spec)
    const replies = await forEachShard(others, (shard) =>
      context.request(shard, 'shard.create-local-collection', { ns, uuid, options: created.options, indexes }),
    )
    for (const { error } of replies) raiseError(error)
    await context.reach('shard.create-collection.participants-ready', { ns })
    const committed = await context.request(configAddress, 'config.commit-create-collection', {
      ns,
      uuid,
      key: shardKey.document,
      unique,
      defaultCollation: created.defaultCollation,
      chunks,
      wasTracked,
    })
    raiseError(committed.error)
    const placement = await placements.refreshCollection(ns)
    if (placement !== null) await logShardCollectionEnd(context, behaviours, ns, facts, placement.table.version)
    return { uuid, error: null }
  })
}
