/**
 * Run by the primary shard of the database. Documents and chunks stay on their shards: a key with
 * more fields keeps the order of the old one.
 * Server: refine_collection_shard_key_coordinator.cpp,
 * configsvr_refine_collection_shard_key_command.cpp.
 * Manual: reference/command/refineCollectionShardKey.
 */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { compareDocuments, CommandError, DocumentWriter, sameBytes } from '@shardlab/bson'
import { announceSharding, expectUuid, raiseError, retryUntilDone } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import { ShardKeyPattern, type CollectionPlacement } from '@shardlab/sharding'
import type { ShardHandlers } from '../../host/handlers.js'
import { hasShardKeyIndex } from '../../shard-key/shard-key-index.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { CoordinatorHost } from '../ddl-host.js'
import type { RefineShardKeyRecord } from '../ddl-records.js'
import { finalFailure } from '../final-failure.js'

export const refineShardKeyHandlers: ShardHandlers<
  'shard.refine-collection-shard-key' | 'shard.check-shard-key-index',
  CoordinatorHost
> = {
  'shard.refine-collection-shard-key': refineShardKey,
  'shard.check-shard-key-index': checkShardKeyIndex,
}

function refineShardKey(
  host: CoordinatorHost,
  request: RequestOf<'shard.refine-collection-shard-key'>,
): Promise<ReplyOf<'shard.refine-collection-shard-key'>> {
  const { ns, databaseVersion } = request
  const coordination = { operation: 'refineCollectionShardKey', names: [ns], databaseVersion, args: null }
  return host.ddl.coordinate(host, coordination, () => refine(host, request))
}

async function refine(
  host: CoordinatorHost,
  { ns, key, enforceUniqueness, collectionUuid }: RequestOf<'shard.refine-collection-shard-key'>,
): Promise<ReplyOf<'shard.refine-collection-shard-key'>> {
  const { node, placements, critical, ddl } = host
  const { context, behaviours } = node
  return critical.hold(ns, async () => {
    expectUuid(node, ns, collectionUuid)
    const placement = await placements.refreshCollection(ns)
    if (placement === null || placement.isUnsplittable)
      throw new CommandError(
        'NamespaceNotSharded',
        behaviours.shardCollectionIsCheckedBy === 'primary-shard'
          ? `Expected collection ${ns} to be sharded`
          : `Collection ${ns} is not sharded.`,
      )
    const { shardKey: old, table, unique } = placement
    const next = ShardKeyPattern.parse(key, {
      compoundHashed: behaviours.compoundHashedShardKeys,
      refuseDollars: behaviours.shardKeyPathsWithDollarsAreRefused,
    })
    if (compareDocuments(old.document, next.document) === 0) return { error: null }
    if (!old.isExtendedBy(next))
      throw new CommandError(
        'InvalidOptions',
        `refineCollectionShardKey shard key ${formatDocument(next.document)} does not extend the current shard key ${formatDocument(old.document)}`,
      )
    // All owners of chunks have the same indexes; the server asks the owner of the lowest chunk.
    const checked = await context.request(table.lowestShard(), 'shard.check-shard-key-index', {
      ns,
      key,
      unique: unique && enforceUniqueness,
    })
    raiseError(checked.error)
    await context.reach('shard.refine-shard-key.validated', { ns })
    const [epoch] = table.version
    const record: RefineShardKeyRecord = {
      ...{ operation: 'refineCollectionShardKey', ns, uuid: placement.uuid, epoch },
      ...{ key: next.document, oldKey: old.document },
    }
    await ddl.records.begin(record)
    await carryOut(host, record)
    return { error: null }
  })
}

/**
 * Commits the new key and refreshes the owners. Called again after a restart.
 * @throws CommandError the config server has refused the key
 */
async function carryOut(host: CoordinatorHost, record: RefineShardKeyRecord): Promise<void> {
  const { node, placements, ddl } = host
  const { context } = node
  const { ns, uuid, key, oldKey } = record
  const failure = await retryUntilDone(node, () => commit(host, record).then(() => null, finalFailure))
  const placement = await retryUntilDone(node, () => placements.refreshCollection(ns))
  if (hasKey(placement, record)) {
    const description = new DocumentWriter(128).document('shardKey', key).document('oldShardKey', oldKey).finish()
    // In one step with the record: the event is neither lost nor repeated.
    announceSharding(node, { ns, uuid }, 'refineCollectionShardKey', description)
  }
  await ddl.records.finish(record)
  if (failure !== null) throw failure
  // The other owners refresh now, or when the first router with the new version arrives.
  for (const shard of placement!.table.owners())
    if (shard !== context.address) context.send(shard, 'shard.refresh-collection', { ns })
}

/** An earlier attempt may have committed. */
async function commit({ node, placements }: CoordinatorHost, record: RefineShardKeyRecord): Promise<void> {
  const { ns, key, epoch } = record
  const { context } = node
  if (hasKey(await placements.refreshCollection(ns), record)) return
  raiseError((await context.request(configAddress, 'config.commit-refine-shard-key', { ns, key, epoch })).error)
  await context.reach('shard.refine-shard-key.committed', { ns })
}

function hasKey(placement: CollectionPlacement | null, { uuid, key }: RefineShardKeyRecord): boolean {
  return placement !== null && sameBytes(placement.uuid, uuid) && sameBytes(placement.shardKey.document, key)
}

export const refineShardKeyRecovery: DdlRecovery<RefineShardKeyRecord, CoordinatorHost> = {
  hold: ({ critical }, { ns }, work) => critical.hold(ns, work),
  resume: carryOut,
}

function checkShardKeyIndex(
  { node }: CoordinatorHost,
  { ns, key, unique }: RequestOf<'shard.check-shard-key-index'>,
): ReplyOf<'shard.check-shard-key-index'> {
  const { behaviours } = node
  const reasons = { text: '' }
  const shardKey = ShardKeyPattern.parse(key, { compoundHashed: true })
  if (hasShardKeyIndex({ behaviours, collection: node.collection(ns), ns, shardKey, unique }, reasons))
    return { error: null }
  const please = 'Please create an index that starts with the proposed shard key before'
  if (!behaviours.shardKeyIndexErrorsGiveReasons)
    throw new CommandError('InvalidOptions', `${please} refining the shard key of the collection`)
  const what = behaviours.refineErrorsMentionSharding
    ? 'sharding the collection'
    : "refining the collection's shard key"
  throw new CommandError('InvalidOptions', `${please} ${what}. ${reasons.text}`)
}
