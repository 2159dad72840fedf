/**
 * Run by the primary shard. Once begun, it retries until the collection is sharded, also after a
 * restart; when that has become impossible, what was created on other shards is dropped.
 * Server: create_collection_coordinator.cpp.
 * Manual: reference/command/shardCollection.
 */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { databaseNameOf } from '@shardlab/member'
import { dropLocalCollection, raiseError, retryUntilDone } from '@shardlab/node'
import { parseDatabase } from '../../metadata/placement-state.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { CreateCollectionRecord } from '../ddl-records.js'
import { finalFailure } from '../final-failure.js'
import { forEachShard, otherShards } from '../participants.js'
import { announceSharded } from './announce-sharded.js'
import { shardHere, type ShardHereRequest } from './shard-here.js'
import { planShardCollection, type ShardCollectionHost } from './shard-collection-plan.js'

type Sharded = ReplyOf<'shard.create-sharded-collection'>
type Plan = Awaited<ReturnType<typeof planShardCollection>>
type NewPlan = Exclude<Plan, { readonly sharded: unknown }>

export function createShardedCollection(
  host: ShardCollectionHost,
  { ns, body, databaseVersion }: RequestOf<'shard.create-sharded-collection'>,
): Promise<Sharded> {
  const coordination = { operation: 'createCollection', names: [ns], databaseVersion, args: null }
  return host.ddl.coordinate(host, coordination, () => {
    const { node, critical, ddl } = host
    return critical.hold(ns, async () => {
      const plan = await planShardCollection(host, ns, body)
      if ('sharded' in plan) return { uuid: plan.sharded.uuid, error: null }
      await node.context.reach('shard.create-collection.validated', { ns })
      const existed = node.collection(ns) !== undefined
      const record = { operation: 'createCollection', ns, body, databaseUuid: databaseVersion[0], existed } as const
      await ddl.records.begin(record)
      return carryOut(host, record, plan)
    })
  })
}

/**
 * @param plan of the first attempt; null: a restart has interrupted it
 * @throws CommandError why it became impossible; then it is undone
 */
async function carryOut(
  host: ShardCollectionHost,
  record: CreateCollectionRecord,
  plan: NewPlan | null,
): Promise<Sharded> {
  const { node, ddl } = host
  const { ns, body, databaseUuid } = record
  const request: ShardHereRequest = { ns, body, primary: node.context.address, databaseUuid }
  let next = plan
  const attempt = async () => {
    const known = next ?? (await planAgain(host, request))
    next = null
    return 'sharded' in known ? known.sharded.uuid : shardWhereItIs(host, request, known)
  }
  // A fault that makes a step fail is for the client to see.
  const outcome = await retryUntilDone(node, () => attempt().catch(finalFailure))
  if (outcome instanceof Uint8Array) {
    // In one step with the record: the event is neither lost nor repeated.
    announceSharded(node, ns, outcome, body)
    await ddl.records.finish(record)
    return { uuid: outcome, error: null }
  }
  await undo(host, record)
  throw outcome
}

/** An earlier attempt may have committed, and some versions refuse to shard twice. */
async function planAgain(host: ShardCollectionHost, { ns, body }: ShardHereRequest): Promise<Plan> {
  const placement = await host.placements.refreshCollection(ns)
  return placement === null || placement.isUnsplittable ? planShardCollection(host, ns, body) : { sharded: placement }
}

async function shardWhereItIs(
  host: ShardCollectionHost,
  request: ShardHereRequest,
  plan: NewPlan,
): Promise<Uint8Array> {
  if (!('elsewhere' in plan)) return shardHere(host, request, plan)
  const { node, placements } = host
  const { uuid, error } = await node.context.request(plan.elsewhere, 'shard.shard-collection-here', request)
  raiseError(error)
  await placements.refreshCollection(request.ns)
  return uuid
}

/**
 * Drops what was created, except on the owner of an unsharded collection: the primary shard, or the
 * shard in the catalog if the collection was moved.
 */
async function undo(host: ShardCollectionHost, record: CreateCollectionRecord): Promise<void> {
  const { node, placements, ddl } = host
  const { context } = node
  const { ns, body, existed, databaseUuid } = record
  const sharded = await retryUntilDone(node, async () => {
    const placement = await placements.refreshCollection(ns)
    const isSharded = placement !== null && !placement.isUnsplittable
    const { database } = await context.request(configAddress, 'config.get-database', { db: databaseNameOf(ns) })
    const isOther = database !== null && parseDatabase(database).version[0] !== databaseUuid
    if (isSharded && !isOther) return placement.uuid
    if (isOther) return null
    const owner = placement?.table.lowestShard() ?? context.address
    if (!existed && node.collection(ns)?.count === 0) dropLocalCollection(node, ns)
    const others = (await otherShards(context)).filter((shard) => shard !== owner)
    await forEachShard(others, (shard) => context.request(shard, 'shard.drop-local-collection', { ns }))
    return null
  })
  placements.forgetCollection(ns)
  if (sharded !== null) announceSharded(node, ns, sharded, body)
  await ddl.records.finish(record)
}

export const createCollectionRecovery: DdlRecovery<CreateCollectionRecord, ShardCollectionHost> = {
  hold: ({ critical }, { ns }, work) => critical.hold(ns, work),
  async resume(host, record) {
    await carryOut(host, record, null)
  },
}
