import { withContext } from '@shardlab/member'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { Operation } from '../dispatch/operation.js'
import type { MongosHost } from '../host/mongos-host.js'

/**
 * Creates the database of a command if it does not exist.
 * @param primaryShard null: the config server chooses
 * @throws CommandError of the config server; 133, 6, 50
 */
export async function createImplicitly(
  { catalog, behaviours }: MongosHost,
  db: string,
  operation: Operation | null,
  primaryShard: string | null = null,
): Promise<DatabaseEntry> {
  try {
    return await catalog.createDatabase(db, operation, primaryShard)
  } catch (error) {
    const { databaseCreationError } = behaviours
    throw databaseCreationError === 'no shard' ? error : withContext(error, `Database ${db} ${databaseCreationError}`)
  }
}
