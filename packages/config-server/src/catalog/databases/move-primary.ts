/** Server: sharding_catalog_manager_database_operations.cpp, commitMovePrimary. */
import type { ReplyOf, RequestOf, TimestampPair } from '@shardlab/actor'
import { CommandError, documentValue, findField, hexOf, int32Value, stringValue } from '@shardlab/bson'
import { withFields } from '../store/document-changes.js'
import { hasLeftSince } from '../members/departures.js'
import { isDraining } from '../members/shards.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'

export const movePrimaryHandlers: ConfigHandlers<'config.commit-move-primary' | 'config.check-new-primary'> = {
  'config.commit-move-primary': commitMovePrimary,
  'config.check-new-primary': (catalog, { db, to }) => {
    checkNewPrimary(catalog, db, to, null)
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
  checkNewPrimary(catalog, db, to, plannedAt)
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
 * @param plannedAt null: before the move
 * @throws CommandError 70 ShardNotFound
 */
function checkNewPrimary(catalog: CatalogHost, db: string, shard: string, plannedAt: TimestampPair | null): void {
  const document = catalog.store.get('config.shards', shard)
  const { movePrimaryChecksNewPrimary } = catalog.behaviours
  if (document === null || (plannedAt !== null && hasLeftSince(catalog, shard, plannedAt)))
    throw new CommandError(
      'ShardNotFound',
      movePrimaryChecksNewPrimary
        ? `Requested primary shard ${shard} does not exist`
        : `Could not move database '${db}' to shard '${shard}' :: caused by :: Shard ${shard} not found`,
    )
  if (movePrimaryChecksNewPrimary && isDraining(document))
    throw new CommandError('ShardNotFound', `Requested primary shard ${shard} is draining`)
}
