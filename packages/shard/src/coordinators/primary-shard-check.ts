import type { DatabaseVersionTuple } from '@shardlab/actor'
import { sameDatabaseVersion } from '@shardlab/sharding'
import { databaseNameOf } from '@shardlab/member'
import type { DatabasePlacement, PlacementState } from '../metadata/placement-state.js'
import { staleDatabase } from '../metadata/version-check.js'

/** @throws CommandError 249 StaleDbVersion when this shard is not the primary that the router thinks it is */
export async function raiseStaleDatabase(
  state: PlacementState,
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
  if (fits(state.database(db))) return
  const database = await state.refreshDatabase(db)
  if (!fits(database)) throw staleDatabase(db, version, database)
}
