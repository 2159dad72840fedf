/** Server: sharding_catalog_manager_database_operations.cpp. */
import { RequestFailedError, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import { internalDatabases } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { databaseDocument } from '../store/catalog-documents.js'
import { dropCollections } from '../collections/collections.js'
import { removeQueryAnalyzersOf } from '../collections/query-analyzers.js'
import type { CatalogHost, ConfigHandlers, DatabaseHost } from '../host.js'

/** After this time the primary shard is chosen without the size of a silent shard. */
const dataSizeTimeoutMs = 2_000

export const databaseHandlers: ConfigHandlers<
  'config.get-database' | 'config.create-database' | 'config.commit-drop-database',
  DatabaseHost
> = {
  'config.get-database': (catalog, { db }) => ({ database: catalog.database(db) }),
  'config.create-database': createDatabase,
  'config.commit-drop-database': dropDatabase,
}

/** One creation per database runs at a time; concurrent requests share its result. */
function createDatabase(
  catalog: DatabaseHost,
  request: RequestOf<'config.create-database'>,
): Promise<ReplyOf<'config.create-database'>> {
  // Names that differ only in case must collide here.
  const key = request.db.toLowerCase()
  const running = catalog.databasesInCreation.get(key)
  const creation = (running ?? Promise.resolve())
    .then(() => createNewDatabase(catalog, request))
    .finally(() => {
      if (catalog.databasesInCreation.get(key) === creation) catalog.databasesInCreation.delete(key)
    })
  catalog.databasesInCreation.set(key, creation)
  return creation
}

async function createNewDatabase(
  catalog: DatabaseHost,
  { db, primaryShard, enableSharding }: RequestOf<'config.create-database'>,
): Promise<ReplyOf<'config.create-database'>> {
  const existing = catalog.store.get('config.databases', db)
  if (existing !== null) {
    if (primaryShard !== null && findField(existing, 'primary')!.asString() !== primaryShard) {
      throw new CommandError(
        'NamespaceExists',
        `database already created on a primary which is different from ${primaryShard}`,
      )
    }
    if (!enableSharding || !catalog.markPartitioned(existing)) return { database: existing, error: null }
    await catalog.node.flush()
    return { database: catalog.database(db), error: null }
  }
  if (internalDatabases.has(db))
    throw new CommandError('InvalidOptions', `Cannot manually create or shard the '${db}' database`)
  const twin = catalog.store
    .find('config.databases')
    .map((document) => findField(document, '_id')!.asString())
    .find((name) => name.toLowerCase() === db.toLowerCase())
  if (twin !== undefined)
    throw new CommandError(
      'DatabaseDifferCase',
      `can't have 2 databases that just differ on case have: ${twin} want to add: ${db}`,
    )
  const shards = catalog.shardIds()
  if (shards.length === 0) throw noShards(catalog.behaviours)
  if (primaryShard !== null && !shards.includes(primaryShard))
    throw new CommandError('ShardNotFound', `Shard ${primaryShard} not found`)
  const primary = primaryShard ?? (await smallestShard(catalog, shards))
  if (primary === null)
    throw new CommandError(
      'FailedToSatisfyReadPreference',
      `Could not find host matching read preference { mode: "primary" } for set ${shards[0]}`,
    )
  const document = databaseDocument(catalog.behaviours, {
    db,
    primary,
    partitioned: enableSharding,
    uuid: uuidV4(catalog.node.context.random),
    timestamp: catalog.node.clock.tick(),
  })
  catalog.store.put('config.databases', document)
  await catalog.node.flush()
  catalog.emitChange('database-created', db)
  return { database: document, error: null }
}

function noShards({ databaseCreationError }: Behaviours): CommandError {
  return databaseCreationError === 'no shard'
    ? new CommandError(
        10185,
        "error creating initial database config information :: caused by :: can't find a shard to put new db on",
      )
    : new CommandError('ShardNotFound', 'No shards found')
}

/** Ties go to the first. Shards that do not reply are skipped. */
async function smallestShard(catalog: DatabaseHost, shards: readonly string[]): Promise<string | null> {
  const { context } = catalog.node
  const sizes = await context.all(
    shards.map((shard) =>
      context.request(shard, 'shard.data-size', {}, { timeoutMs: dataSizeTimeoutMs }).then(
        ({ sizeBytes }) => sizeBytes,
        (error: unknown) => {
          if (error instanceof RequestFailedError) return Number.POSITIVE_INFINITY
          throw error
        },
      ),
    ),
  )
  const least = Math.min(...sizes)
  return Number.isFinite(least) ? shards[sizes.indexOf(least)]! : null
}

async function dropDatabase(
  catalog: CatalogHost,
  { db }: RequestOf<'config.commit-drop-database'>,
): Promise<ReplyOf<'config.commit-drop-database'>> {
  await dropCollections(catalog, db)
  const database = catalog.store.get('config.databases', db)
  if (database !== null) {
    removeQueryAnalyzersOf(catalog, db)
    catalog.store.remove('config.databases', database)
    await catalog.node.flush()
    catalog.emitChange('database-dropped', db)
  }
  return { error: null }
}
