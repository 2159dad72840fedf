/**
 * Run by the primary shard of the source. A sharded collection gets its new name in the catalog
 * first. A shard that learns the new placement before the rename request renames its copy by UUID
 * ({@link adoptRename}).
 * Server: rename_collection_coordinator.cpp, sharding_ddl_util.cpp (checkRenamePreconditions).
 */
import { configAddress, unversionedNow, type DatabaseVersionTuple, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import { databaseNameOf, splitNamespace } from '@shardlab/member'
import {
  checkRename,
  dropLocalCollection,
  expectUuid,
  raiseError,
  renameLocalCollection,
  type NodeHost,
  retryUntilDone,
} from '@shardlab/node'
import { internalDatabases } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import { logChange } from '../../common/changelog.js'
import { staleDatabase } from '../../metadata/version-check.js'
import { stopSampling } from '../../query-analysis/stop-sampling.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { DdlHost } from '../ddl-host.js'
import type { RenameCollectionRecord } from '../ddl-records.js'
import { forEachShard, otherShards } from '../participants.js'
import { checkShardedNamespace } from '../shard-collection/sharded-namespace.js'

export function renameCollection(
  host: DdlHost,
  request: RequestOf<'shard.rename-collection'>,
): Promise<ReplyOf<'shard.rename-collection'>> {
  const { ns, to, dropTarget, collectionUuid, databaseVersion } = request
  const args = [databaseVersion, to, dropTarget, collectionUuid].join(' ')
  return host.ddl.coordinate(host, { operation: 'renameCollection', names: [ns, to], databaseVersion, args }, () =>
    rename(host, request),
  )
}

async function rename(
  host: DdlHost,
  { ns, to, dropTarget, collectionUuid, databaseVersion }: RequestOf<'shard.rename-collection'>,
): Promise<ReplyOf<'shard.rename-collection'>> {
  const { node, placements, ddl } = host
  const { context } = node
  await checkTargetDatabase(host, ns, to, databaseVersion)
  return holdBoth(host, { ns, to }, async () => {
    const source = await placements.refreshCollection(ns)
    const target = await placements.refreshCollection(to)
    expectUuid(node, ns, collectionUuid)
    await checkPreconditions(host, { ns, to, dropTarget }, source, target)
    const { uuid } = node.collection(ns)!
    await stopSampling(node, [ns, to])
    if (source !== null) await logChange(context, 'renameCollection.start', ns, namesOf({ ns, to }))
    const record: RenameCollectionRecord = {
      operation: 'renameCollection',
      ns,
      to,
      uuid,
      sharded: source !== null,
      targetSharded: target !== null,
    }
    await ddl.records.begin(record)
    await finishRename(host, record)
    return { error: null }
  })
}

/**
 * The target's database may have been dropped or moved since the router has looked.
 * @throws CommandError 249 StaleDbVersion: the router looks again
 */
async function checkTargetDatabase(
  { node, placements }: DdlHost,
  ns: string,
  to: string,
  databaseVersion: DatabaseVersionTuple,
): Promise<void> {
  const db = databaseNameOf(to)
  if (db === databaseNameOf(ns) || internalDatabases.has(db)) return
  const database = await placements.refreshDatabase(db)
  if (database?.primary !== node.context.address) throw staleDatabase(db, databaseVersion, database)
}

/** All renames enter their two sections in the same order, which prevents deadlocks. */
function holdBoth<T>(
  { critical }: DdlHost,
  { ns, to }: { readonly ns: string; readonly to: string },
  work: () => Promise<T>,
): Promise<T> {
  const [first, second] = ns < to ? [ns, to] : [to, ns]
  return critical.hold(first, () => critical.hold(second, work))
}

async function finishRename(host: DdlHost, record: RenameCollectionRecord): Promise<void> {
  const { node, placements, ddl } = host
  const { context } = node
  const { ns, to, uuid, sharded, targetSharded } = record
  try {
    await retryUntilDone(node, async () => {
      if (sharded)
        raiseError((await context.request(configAddress, 'config.commit-rename-collection', { ns, to, uuid })).error)
      else if (targetSharded)
        raiseError((await context.request(configAddress, 'config.commit-drop-collection', { ns: to })).error)
      await context.reach('shard.rename-collection.committed', { ns, to })
    })
  } catch (error) {
    // The config server has refused the rename, so there is nothing to undo.
    if (error instanceof CommandError) await ddl.records.finish(record)
    throw error
  }
  const collection = node.collection(ns)
  if (collection !== undefined && sameBytes(collection.uuid, uuid)) renameLocalCollection(node, collection, to)
  await node.flushToMajority()
  placements.forgetCollection(ns)
  placements.forgetCollection(to)
  await retryUntilDone(node, async () => {
    if (sharded || targetSharded)
      await forEachShard(await otherShards(context), (shard) =>
        context.request(shard, 'shard.rename-local-collection', { ns, to, uuid }),
      )
    if (sharded) await logChange(context, 'renameCollection.end', to, namesOf({ ns, to }))
  })
  await ddl.records.finish(record)
}

export const renameCollectionRecovery: DdlRecovery<RenameCollectionRecord, DdlHost> = {
  hold: holdBoth,
  resume: finishRename,
}

function namesOf({ ns, to }: { readonly ns: string; readonly to: string }): Uint8Array {
  return new DocumentWriter(64).string('source', ns).string('destination', to).finish()
}

async function checkPreconditions(
  { node }: DdlHost,
  { ns, to, dropTarget }: { readonly ns: string; readonly to: string; readonly dropTarget: boolean },
  source: CollectionPlacement | null,
  target: CollectionPlacement | null,
): Promise<void> {
  // The primary shard always has a copy of a sharded collection, possibly an empty one.
  if (node.collection(ns) === undefined) return checkRename(node, { from: ns, to, dropTarget })
  const sameDatabase = databaseNameOf(ns) === databaseNameOf(to)
  if (!node.behaviours.shardedCollectionsCanBeRenamed) {
    if (source !== null) throw new CommandError(13138, "You can't rename a sharded collection")
    if (target !== null) throw new CommandError(13139, "You can't rename to a sharded collection")
  }
  if (source !== null && !source.isUnsplittable) checkShardedNamespace(to, 'Namespace of target collection')
  if (source !== null && !sameDatabase) {
    throw new CommandError(
      'CommandFailed',
      `Source and destination collections must be on the same database because ${ns} is sharded.`,
    )
  }
  if ((source !== null || target !== null) && !dropTarget && (target !== null || node.collection(to) !== undefined))
    throw new CommandError('NamespaceExists', `Target collection ${to} exists but dropTarget is not set`)
  if (source !== null && (await hasZones(node, to)))
    throw new CommandError(
      'CommandFailed',
      `Can't rename to target collection ${to} because it must not have associated tags`,
    )
  checkRename(node, { from: ns, to, dropTarget })
}

async function hasZones(node: NodeHost, ns: string): Promise<boolean> {
  const body = new DocumentWriter(64)
    .string('find', 'tags')
    .startDocument('filter')
    .string('ns', ns)
    .end()
    .int32('limit', 1)
    .bool('singleBatch', true)
    .finish()
  const command = unversionedNow('config', body, node.clock.time)
  const reply = await node.context.request(configAddress, 'node.command', command)
  const cursor = findField(reply.body, 'cursor')
  const batch = cursor === undefined ? undefined : findField(cursor.bytes, 'firstBatch', cursor.start)
  return batch !== undefined && batch.end - batch.start > 5
}

/** Has no effect when repeated. The caller flushes the node. */
export function renameParticipant(node: NodeHost, { ns, to, uuid }: RequestOf<'shard.rename-local-collection'>): void {
  const sameUuid = (name: string) => {
    const collection = node.collection(name)
    return collection !== undefined && sameBytes(collection.uuid, uuid)
  }
  if (sameUuid(to)) return
  if (sameUuid(ns)) renameLocalCollection(node, node.collection(ns)!, to, false, true)
  else dropLocalCollection(node, to, true)
}

/**
 * For a collection that has another name in the catalog. A crash may undo the rename: the placement
 * is then learned again.
 */
export function adoptRename(node: NodeHost, ns: string, { uuid }: CollectionPlacement): void {
  const local = node.collection(ns)
  if (local !== undefined && sameBytes(local.uuid, uuid)) return
  const [db] = splitNamespace(ns)
  const renamed = node.engine.collections(db).find((collection) => sameBytes(collection.uuid, uuid))
  if (renamed !== undefined) renameLocalCollection(node, renamed, ns, false, true)
}
