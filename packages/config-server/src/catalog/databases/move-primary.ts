/** Server: sharding_catalog_manager_database_operations.cpp, commitMovePrimary. */
import type { ReplyOf, RequestOf, TimestampPair } from '@shardlab/actor'
import { CommandError, documentValue, findField, hexOf, int32Value, stringValue } from '@shardlab/bson'
import { withFields } from '../store/document-changes.js'
import { hasLeftSince } from '../members/departures.js'
import { isDraining } from '../members/shards.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'
import { recordRefusal, wasRefusedSince } from './refused-moves.js'

export const movePrimaryHandlers: ConfigHandlers<'config.commit-move-primary' | 'config.check-new-primary'> = {
  'config.commit-move-primary': commitMovePrimary,
  'config.check-new-primary': (catalog, { db, to }) => {
    checkNewPrimary(catalog, db, to)
    return { checkedAt: catalog.node.clock.time, error: null }
  },
}

async function commitMovePrimary(
  catalog: CatalogHost,
  { db, to, databaseVersion, plannedAt }: RequestOf<'config.commit-move-primary'>,
): Promise<ReplyOf<'config.commit-move-primary'>> {
  const database = catalog.database(db)
  if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  const version = findField(database, 'version')!.slice()
  const lastMod = findField(version, 'lastMod')!.asNumber()
  if (findField(database, 'primary')!.asString() === to) return { database, error: null }
  const uuid = findField(version, 'uuid')!
  if (lastMod !== databaseVersion[3] || hexOf(uuid.asBinary()) !== databaseVersion[0]) {
    throw new CommandError('ConflictingOperationInProgress', `database ${db} has changed while its primary shard moved`)
  }
  // No await before the write: the database, and the shards, must stay as they were checked.
  const refusal = refusalOf(catalog, db, to, plannedAt)
  if (refusal !== null) {
    await catalog.node.flushToMajority()
    throw refusal
  }
  const next = withFields(database, {
    primary: stringValue(to),
    version: documentValue(withFields(version, { lastMod: int32Value(lastMod + 1) })),
  })
  catalog.store.put('config.databases', next)
  await catalog.node.flushToMajority()
  catalog.emitChange('primary-moved', db)
  return { database: next, error: null }
}

/**
 * A refusal is final: the caller flushes the node before it replies. Null: the shard may receive.
 * @throws CommandError 70 ShardNotFound: it has left since the plan, or was never a member
 */
function refusalOf(catalog: CatalogHost, db: string, shard: string, plannedAt: TimestampPair): CommandError | null {
  checkMembership(catalog, db, shard, plannedAt)
  const wasRefused = wasRefusedSince(catalog, db, plannedAt)
  if (!wasRefused && !mustNotReceive(catalog, shard)) return null
  if (!wasRefused) recordRefusal(catalog, db)
  return drainingShard(shard)
}

/** Before the move. @throws CommandError 70 ShardNotFound */
function checkNewPrimary(catalog: CatalogHost, db: string, shard: string): void {
  checkMembership(catalog, db, shard, null)
  if (mustNotReceive(catalog, shard)) throw drainingShard(shard)
}

/** @param plannedAt null: before the move */
function checkMembership(catalog: CatalogHost, db: string, shard: string, plannedAt: TimestampPair | null): void {
  const hasLeft = plannedAt !== null && hasLeftSince(catalog, shard, plannedAt)
  if (!hasLeft && catalog.store.get('config.shards', shard) !== null) return
  throw new CommandError(
    'ShardNotFound',
    catalog.behaviours.movePrimaryChecksNewPrimary
      ? `Requested primary shard ${shard} does not exist`
      : `Could not move database '${db}' to shard '${shard}' :: caused by :: Shard ${shard} not found`,
  )
}

function mustNotReceive({ behaviours, store }: CatalogHost, shard: string): boolean {
  return behaviours.movePrimaryChecksNewPrimary && isDraining(store.get('config.shards', shard)!)
}

function drainingShard(shard: string): CommandError {
  return new CommandError('ShardNotFound', `Requested primary shard ${shard} is draining`)
}
