/**
 * Server: balancer.cpp (moveRange), configsvr_commit_chunk_migration_command.cpp,
 * sharding_catalog_manager_chunk_operations.cpp.
 */
import {
  requestFailure,
  RequestFailedError,
  type PlacementVersionTuple,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareDocuments,
  elementsOf,
  errorDocument,
  findField,
  sameBytes,
} from '@shardlab/bson'
import { formatRange, comparePlacement } from '@shardlab/sharding'
import { isUnsplittable } from '../store/catalog-documents.js'
import type { StoredChunk } from '../chunks/chunk-documents.js'
import { CollectionChunks, nextMajor, withVersion } from '../chunks/chunk-operations.js'
import { hasLeftSince } from '../members/departures.js'
import { maxChunkSizeBytes } from '../settings/chunk-size.js'
import { moveRange } from './move-range.js'
import type { MigrationHost, ConfigHandlers } from '../host.js'

export const migrationHandlers: ConfigHandlers<
  'config.move-range' | 'config.commit-chunk-migration' | 'config.ensure-chunk-version-is-greater-than',
  MigrationHost
> = {
  'config.move-range': requestMove,
  'config.commit-chunk-migration': commitMigration,
  'config.ensure-chunk-version-is-greater-than': ensureVersion,
}

const donorPauseMs = 250
/** Of one request. A repeated request joins the running migration. */
const donorTimeoutMs = 60_000

async function requestMove(
  catalog: MigrationHost,
  request: RequestOf<'config.move-range'>,
): Promise<ReplyOf<'config.move-range'>> {
  const { ns, min, max, to, forceJumbo, waitForDelete, secondaryThrottle } = request
  const { context } = catalog.node
  const chunks = CollectionChunks.open(catalog, ns)
  if (chunks === null) throw new CommandError('NamespaceNotFound', `collection ${ns} not found`)
  if (isUnsplittable(chunks.document))
    throw new CommandError('NamespaceNotSharded', `Can't execute moveRange on unsharded collection ${ns}`)
  if (catalog.store.get('config.shards', to) === null) throw new CommandError('ShardNotFound', `Shard ${to} not found`)
  const chunk = chunkOf(chunks, min, max)
  // The donor reports invalid bounds.
  if (chunk.shard === to && isBound(chunks, min) && isBound(chunks, max)) return { error: null }
  if (catalog.behaviours.moveChunkRespectsZones) checkRecipient(catalog, chunks, chunk, to)
  if (!allowsMigrations(chunks.document))
    throw new CommandError(
      'ConflictingOperationInProgress',
      'Collection is undergoing changes so moveChunk is not allowed.',
    )
  await context.reach('config.migration.requested', { ns })
  const moving = { collection: chunks.document, chunk }
  catalog.moving.set(chunk.shard, moving)
  const { error } = await askDonor(catalog, chunk.shard, {
    ns,
    min,
    max,
    to,
    chunkMin: chunk.min,
    chunkMax: chunk.max,
    chunkVersion: chunks.placementVersion([chunk.major, chunk.minor]),
    maxChunkSizeBytes: maxChunkSizeBytes(catalog, chunks.document),
    forceJumbo,
    waitForDelete,
    secondaryThrottle,
    plannedAt: catalog.node.clock.time,
  })
  if (catalog.moving.get(chunk.shard) === moving) catalog.moving.delete(chunk.shard)
  if (error === null) return { error: null }
  // A failure after the commit does not undo it.
  const now = CollectionChunks.open(catalog, ns)
  const isMoved = now !== null && isBound(now, min) && isBound(now, max) && chunkOf(now, min, max).shard === to
  return { error: isMoved ? null : error }
}

/** Retries until the donor has replied, because it may crash and restart. */
async function askDonor(
  catalog: MigrationHost,
  donor: string,
  request: RequestOf<'shard.move-range'>,
): Promise<ReplyOf<'shard.move-range'>> {
  const { context, stopping } = catalog.node
  for (;;) {
    try {
      return await context.request(donor, 'shard.move-range', request, { timeoutMs: donorTimeoutMs })
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      if (error.undelivered) return { error: errorDocument(requestFailure(error)) }
      if (error.reason !== 'timed-out') await context.sleep(donorPauseMs, stopping.signal)
    }
  }
}

/**
 * The chunk that contains `min`, or that `max` ends if `min` is null. Any chunk if the bounds do
 * not fit the shard key.
 */
function chunkOf(chunks: CollectionChunks, min: Uint8Array | null, max: Uint8Array | null): StoredChunk {
  const first = () => chunks.beginningAtOrBelow(chunks.shardKey.globalMin)
  const chunk = min === null ? chunks.endingAtOrAbove(max!) : chunks.beginningAtOrBelow(min)
  const known = isBound(chunks, min) && isBound(chunks, max) ? chunk : first()
  if (known === null)
    throw new CommandError(
      'IncompatibleShardingMetadata',
      `Tried to find max chunk version for collection '${chunks.ns}', but found no chunks`,
    )
  return known
}

function isBound(chunks: CollectionChunks, bound: Uint8Array | null): boolean {
  return bound === null || chunks.shardKey.keyStringOfBound(bound) !== undefined
}

/**
 * @throws CommandError 20 IllegalOperation: the recipient is draining, or not in the chunk's zone
 */
function checkRecipient(catalog: MigrationHost, { ns }: CollectionChunks, chunk: StoredChunk, to: string): void {
  const shard = catalog.store.get('config.shards', to)!
  if (findField(shard, 'draining')?.isTruthy() === true)
    throw new CommandError('IllegalOperation', `${to} is currently draining.`)
  const zone = catalog
    .zonesOf(ns)
    .find(
      (tag) =>
        compareDocuments(findField(tag, 'min')!.slice(), chunk.min) <= 0 &&
        compareDocuments(findField(tag, 'max')!.slice(), chunk.min) > 0,
    )
  const name = zone === undefined ? undefined : findField(zone, 'tag')?.asString()
  const tags = findField(shard, 'tags')
  const own =
    tags?.type === BsonType.array
      ? elementsOf(tags).map((tag) => (tag.type === BsonType.string ? tag.asString() : ''))
      : []
  if (name !== undefined && !own.includes(name))
    throw new CommandError('IllegalOperation', `${to} doesn't have right tag`)
}

function allowsMigrations(collection: Uint8Array): boolean {
  const isFalse = (name: string) => {
    const value = findField(collection, name)
    return value?.type === BsonType.bool && !value.isTruthy()
  }
  return !isFalse('allowMigrations') && !isFalse('permitMigrations')
}

/**
 * @throws CommandError 70 ShardNotFound: the recipient has left, or is draining; 117
 * ConflictingOperationInProgress: the collection is gone or may not move, or the chunk has a newer
 * version; 150 StaleEpoch; 40165: no chunk covers the range; 4914702: a third shard owns it
 */
async function commitMigration(
  catalog: MigrationHost,
  request: RequestOf<'config.commit-chunk-migration'>,
): Promise<ReplyOf<'config.commit-chunk-migration'>> {
  const { ns, from, to, min, max } = request
  await catalog.node.context.reach('config.migration.before-commit', { ns })
  const reply = commit(catalog, request)
  await catalog.node.flushToMajority()
  catalog.node.context.log('info', 'a range has another owner', { ns, from, to, range: formatRange(min, max) })
  await catalog.node.context.reach('config.migration.committed', { ns })
  return reply
}

function commit(
  catalog: MigrationHost,
  { ns, from, to, min, max, chunkVersion, clusterTime, plannedAt }: RequestOf<'config.commit-chunk-migration'>,
): ReplyOf<'config.commit-chunk-migration'> {
  const recipient = catalog.store.get('config.shards', to)
  if (recipient === null || hasLeftSince(catalog, to, plannedAt))
    throw new CommandError('ShardNotFound', `Shard ${to} does not exist`)
  if (findField(recipient, 'draining')?.isTruthy() === true)
    throw new CommandError('ShardNotFound', `Shard ${to} is currently draining`)
  const chunks = CollectionChunks.open(catalog, ns)
  if (chunks === null) throw new CommandError('ConflictingOperationInProgress', 'Collection does not exist')
  if (!allowsMigrations(chunks.document))
    throw new CommandError(
      'ConflictingOperationInProgress',
      'Collection is undergoing changes and chunks cannot be moved',
    )
  const { version } = chunks
  if (!isSameGeneration(chunks, chunkVersion)) {
    throw new CommandError(
      'StaleEpoch',
      `The epoch of collection '${ns}' has changed since the migration began. The config server's collection placement version epoch is now '${chunks.epoch}', but the shard's is ${chunkVersion[0]}'. Aborting migration commit for chunk (${formatRange(min, max)}).`,
    )
  }
  const chunk = covering(catalog, chunks, { from, min, max })
  if (chunk.shard === to) {
    const onDonor = chunks.placementVersion(chunks.versionOn(from))
    const collectionVersion = chunks.placementVersion(version)
    return { shardVersion: onDonor, collectionVersion, clusterTime: catalog.node.clock.time, error: null }
  }
  if (chunk.shard !== from) {
    throw new CommandError(
      4914702,
      `Migrated  chunk ${formatRange(min, max)} from ns: ${ns} not owned by donor ${from} neither by recipient ${to}`,
    )
  }
  const current = chunks.placementVersion([chunk.major, chunk.minor])
  if (comparePlacement(chunkVersion, current) < 0) {
    const text = (tuple: PlacementVersionTuple) => `${tuple[3]}|${tuple[4]}||${tuple[0]}`
    throw new CommandError(
      'ConflictingOperationInProgress',
      `Rejecting migration request because the version of the requested chunk ${formatRange(min, max)}(${text(chunkVersion)}) is older than the version of the current chunk ${formatRange(chunk.min, chunk.max)}(${text(current)}) on shard ${from}`,
    )
  }
  // Earlier reads were served by the donor, so the move must have a later time.
  catalog.node.clock.advance(clusterTime)
  const validAfter = catalog.node.clock.tick()
  chunks.noteVersion(version)
  const moved = moveRange(catalog, chunks, chunk, { min, max, toShard: to, validAfter })
  return {
    shardVersion: chunks.placementVersion(moved.donorVersion),
    collectionVersion: chunks.placementVersion(moved.collectionVersion),
    clusterTime: validAfter,
    error: null,
  }
}

/** @throws CommandError 40165 */
function covering(
  { moving, behaviours }: MigrationHost,
  chunks: CollectionChunks,
  { from, min, max }: Pick<RequestOf<'config.commit-chunk-migration'>, 'from' | 'min' | 'max'>,
): StoredChunk {
  const asked = moving.get(from)
  // Checking that the requested chunk is unchanged is cheaper than finding it again.
  const isAsked =
    asked?.collection === chunks.document && sameBytes(asked.chunk.min, min) && chunks.isUnchanged(asked.chunk)
  const chunk = isAsked ? asked.chunk : chunks.beginningAtOrBelow(min)
  if (!behaviours.moveRangeCommand && (chunk === null || !isExactly(chunk, min, max)))
    throw new CommandError(
      40165,
      `Could not find the chunk (${formatRange(min, max)}) on the shard. Cannot execute the migration commit with invalid chunks.`,
    )
  if (chunk === null || compareDocuments(chunk.max, max) < 0)
    throw new CommandError(
      40165,
      `Could not find a chunk including bounds ${formatRange(min, max)}. Cannot execute the migration commit with invalid chunks.`,
    )
  return chunk
}

function isExactly(chunk: StoredChunk, min: Uint8Array, max: Uint8Array): boolean {
  return compareDocuments(chunk.min, min) === 0 && compareDocuments(chunk.max, max) === 0
}

function isSameGeneration(chunks: CollectionChunks, [epoch, seconds, increment]: PlacementVersionTuple): boolean {
  return chunks.isGeneration([epoch, [seconds, increment]])
}

/** Does nothing if the chunk is newer or has other bounds: the commit would be refused anyway. */
async function ensureVersion(
  catalog: MigrationHost,
  { ns, uuid, min, version }: RequestOf<'config.ensure-chunk-version-is-greater-than'>,
): Promise<ReplyOf<'config.ensure-chunk-version-is-greater-than'>> {
  const chunks = CollectionChunks.open(catalog, ns)
  const chunk = chunks?.beginningAtOrBelow(min) ?? null
  if (chunks === null || chunk === null || !isSameGeneration(chunks, version))
    return { ns: nameOf(catalog, uuid) ?? ns, error: null }
  if (comparePlacement(chunks.placementVersion([chunk.major, chunk.minor]), version) <= 0) {
    chunks.put(withVersion(chunk, nextMajor(chunks.version)), 'version-first')
    await catalog.node.flushToMajority()
  }
  return { ns, error: null }
}

function nameOf(catalog: MigrationHost, uuid: Uint8Array): string | undefined {
  const entry = catalog
    .collections()
    .find((collection) => sameBytes(findField(collection, 'uuid')?.asBinary() ?? emptyUuid, uuid))
  return entry === undefined ? undefined : findField(entry, '_id')!.asString()
}

/** For versions without UUIDs. */
const emptyUuid = new Uint8Array(0)
