import type { DatabaseVersionTuple } from '@shardlab/actor'
import { sameDatabaseVersion } from '@shardlab/sharding'
import { databaseNameOf } from '@shardlab/member'
import type { DatabasePlacement, DatabasePlacements } from '../host/host.js'
import { staleDatabase } from '../metadata/version-check.js'

/**
 * @throws CommandError 249 StaleDbVersion when the router's version is outdated, or this shard is
 *   not the primary
 */
export async function raiseStaleDatabase(
  placements: DatabasePlacements,
  shard: string,
  ns: string,
  version: DatabaseVersionTuple,
): Promise<void> {
  const db = databaseNameOf(ns)
  const fits = (database: DatabasePlacement | null | undefined) =>
    database !== null &&
    database !== undefined &&
    database.primary === shard &&
    sameDatabaseVersion(database.version, version)
  if (fits(placements.database(db))) return
  const database = await placements.refreshDatabase(db)
  if (!fits(database)) throw staleDatabase(db, version, database)
}
