/**
 * shardCollection, run by the primary shard of the database: validate, make the supporting index, create the collection
 * where chunks will be, commit. Server: create_collection_coordinator.cpp. Manual: reference/command/shardCollection.
 */
import {
  CommandArguments,
  configAddress,
  uuidV4,
  type ActorContext,
  type DatabaseVersionTuple,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { compareDocuments, CommandError, decode, DocumentWriter, emptyDocument, toExtendedJson } from '@shardlab/bson'
import { buildIndex, checkCollectionUuid, createCollection, raiseError, viewOf, type StorageNode } from '@shardlab/node'
import { sameDatabaseVersion, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { DatabasePlacement, PlacementState } from '../metadata/placement-state.js'
import { staleDatabase } from '../metadata/version-check.js'
import { initialChunks } from './initial-split-policy.js'
import { forEachShard } from './participants.js'
import { checkShardedNamespace } from './sharded-namespace.js'
import { isForeignCollation, requiredIndex } from './shard-key-index.js'
import type { ShardParts } from '../shard-parts.js'

const fields = {
  key: 'object!',
  unique: 'bool',
  numInitialChunks: 'number',
  presplitHashedZones: 'bool',
  collation: 'object',
  timeseries: 'object',
  enforceUniquenessCheck: 'bool',
  implicitlyCreateIndex: 'bool',
  collectionUUID: 'binary',
} as const

export async function createShardedCollection(
  { node, state, critical }: ShardParts,
  { ns, body, databaseVersion }: RequestOf<'shard.create-sharded-collection'>,
): Promise<ReplyOf<'shard.create-sharded-collection'>> {
  const { context, behaviours } = node
  await raiseStaleDatabase(state, context.address, ns, databaseVersion)
  return critical.hold(ns, async () => {
    const args = CommandArguments.parse(body, fields)
    checkShardedNamespace(ns)
    const shardKey = ShardKeyPattern.parse(args.document('key')!, { compoundHashed: behaviours.compoundHashedShardKeys })
    const unique = args.bool('unique') ?? false
    if (unique && shardKey.isHashed) throw new CommandError('InvalidOptions', 'Hashed shard keys cannot be declared unique')
    if (isForeignCollation(args.document('collation')))
      throw new CommandError('BadValue', "The collation for shardCollection must be {locale: 'simple'}")
    if (args.has('timeseries')) throw new CommandError('InvalidOptions', "the field 'timeseries' of shardCollection is not supported")
    const existing = await state.refreshCollection(ns)
    checkCollectionUuid(node, ns, args)
    if (existing !== null) {
      if (compareDocuments(existing.shardKey.document, shardKey.document) !== 0 || existing.unique !== unique) {
        throw new CommandError(
          'AlreadyInitialized',
          `sharding already enabled for collection ${ns} with options ${toExtendedJson(new DocumentWriter().document('shardKey', existing.shardKey.document).bool('unique', existing.unique).finish())}`,
        )
      }
      return { uuid: existing.uuid, error: null }
    }
    const collection = node.collection(ns)
    checkShardable(node, collection, ns, args.has('collation'))
    const isEmpty = collection === undefined || collection.count === 0
    const shards = (await context.request(configAddress, 'config.get-shards', {})).shards.map((shard) => decode(shard)['_id'] as string)
    const chunkCount = checkNumInitialChunks(args, shardKey, isEmpty, shards.length)
    if (args.bool('presplitHashedZones') === true)
      throw new CommandError(
        31387,
        `'presplitHashedZones' is only supported when the collection is empty, zones are defined and shard key pattern has a hashed field`,
      )
    const index = requiredIndex(collection, ns, shardKey, unique)
    await context.reach('shard.create-collection.validated', { ns })
    await logChange(
      context,
      'shardCollection.start',
      ns,
      new DocumentWriter()
        .document('shardKey', shardKey.document)
        .string('collection', ns)
        .string('primary', `${context.address}:${context.address}/${context.endpoint}`)
        .finish(),
    )
    const local = collection ?? createCollection(node, ns, emptyDocument, uuidV4(context.random))
    if (index !== null) buildIndex(node, local, index)
    await node.flush()
    const created = node.collection(ns)!
    const chunks = initialChunks({
      shardKey,
      isEmpty,
      primaryShard: context.address,
      shards: behaviours.initialChunksOnShuffledShards ? context.random.shuffled(shards) : shards,
      chunkCount: behaviours.numInitialChunksIsIgnored ? null : chunkCount,
      chunksPerShard: behaviours.initialHashedChunksPerShard,
    })
    const others = [...new Set(chunks.map(([, , shard]) => shard))].filter((shard) => shard !== context.address).sort()
    const indexes = created.indexes().map((each) => each.spec)
    const replies = await forEachShard(others, (shard) =>
      context.request(shard, 'shard.create-local-collection', { ns, uuid: created.uuid, options: created.options, indexes }),
    )
    for (const { error } of replies) raiseError(error)
    await context.reach('shard.create-collection.participants-ready', { ns })
    const committed = await context.request(configAddress, 'config.commit-create-collection', {
      ns,
      uuid: created.uuid,
      key: shardKey.document,
      unique,
      defaultCollation: created.defaultCollation,
      chunks,
    })
    raiseError(committed.error)
    const placement = await state.refreshCollection(ns)
    await logChange(
      context,
      'shardCollection.end',
      ns,
      new DocumentWriter()
        .string(
          'version',
          placement === null ? '0|0' : `${placement.table.version[3]}|${placement.table.version[4]}||${placement.table.version[0]}`,
        )
        .int32('numChunks', chunks.length)
        .finish(),
    )
    return { uuid: created.uuid, error: null }
  })
}

/** @throws CommandError 166 CommandNotSupportedOnView, 72 InvalidOptions, 2 BadValue */
function checkShardable(node: StorageNode, collection: Collection | undefined, ns: string, collationGiven: boolean): void {
  if (collection === undefined) {
    if (viewOf(node, ns) !== null) throw new CommandError('CommandNotSupportedOnView', 'Views cannot be sharded.')
    return
  }
  if (collection.capped !== null) throw new CommandError('InvalidOptions', "can't shard a capped collection")
  if (collection.defaultCollation !== null && !collationGiven)
    throw new CommandError('BadValue', 'If no collation was specified, the collection collation must be simple')
}

/** @throws CommandError 72 InvalidOptions */
function checkNumInitialChunks(args: CommandArguments, shardKey: ShardKeyPattern, isEmpty: boolean, shardCount: number): number | null {
  const count = args.number('numInitialChunks')
  if (count === undefined || count === 0) return null
  if (count < 0 || count > 8192 * shardCount || count > 1_000_000) {
    throw new CommandError(
      'InvalidOptions',
      `numInitialChunks cannot be more than either: 8192, 8192 * number of shards; or 1000000. Got ${count}`,
    )
  }
  if (!shardKey.isHashed || !isEmpty)
    throw new CommandError(
      'InvalidOptions',
      `numInitialChunks is only supported when the collection is empty and has a hashed field in the shard key pattern`,
    )
  if (shardKey.hashedIndex !== 0)
    throw new CommandError(
      'InvalidOptions',
      `numInitialChunks is not supported when the hashed field is not the first field of the shard key without presplitHashedZones`,
    )
  return Math.trunc(count)
}

/** Writes to config.changelog. */
export async function logChange(context: ActorContext, what: string, ns: string, details: Uint8Array): Promise<void> {
  await context.request(configAddress, 'config.log-change', { what, ns, details, from: `${context.address}:${context.endpoint}` })
}

/** @throws CommandError 249 StaleDbVersion when this shard is not the primary that the router thinks it is */
export async function raiseStaleDatabase(state: PlacementState, shard: string, ns: string, version: DatabaseVersionTuple): Promise<void> {
  const db = ns.split('.', 1)[0]!
  const fits = (database: DatabasePlacement | null | undefined) =>
    database !== null && database !== undefined && database.primary === shard && sameDatabaseVersion(database.version, version)
  if (fits(state.database(db))) return
  const database = await state.refreshDatabase(db)
  if (!fits(database)) throw staleDatabase(db, version, database)
}
