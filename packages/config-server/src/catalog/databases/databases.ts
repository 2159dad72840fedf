/** Server: sharding_catalog_manager_database_operations.cpp. */
import { RequestFailedError, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import { internalDatabases } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { databaseDocument, databaseUuidOf } from '../store/catalog-documents.js'
import { dropCollections } from '../collections/collections.js'
import { removeQueryAnalyzersOf } from '../collections/query-analyzers.js'
import type { CatalogHost, ConfigHandlers, DatabaseHost } from '../host.js'
import { forgetRefusal } from './refused-moves.js'

/** After this time the primary shard is chosen without the size of a silent shard. */
const dataSizeTimeoutMs = 30_000

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
  request: RequestOf<'config.create-database'>,
): Promise<ReplyOf<'config.create-database'>> {
  const { db, primaryShard, enableSharding } = request
  const existing = existingDatabase(catalog, request)
  if (existing !== null) return enable(catalog, existing, enableSharding)
  checkNewName(catalog, db)
  if (primaryShard !== null) checkShard(catalog, primaryShard)
  const primary = primaryShard ?? (await smallestShard(catalog))
  // A shard that brought the database may have joined during the wait.
  const adopted = existingDatabase(catalog, request)
  if (adopted !== null) return enable(catalog, adopted, enableSharding)
  checkNewName(catalog, db)
  const document = databaseDocument(catalog.behaviours, {
    db,
    primary,
    partitioned: enableSharding,
    uuid: uuidV4(catalog.node.context.random),
    timestamp: catalog.node.clock.tick(),
  })
  catalog.store.put('config.databases', document)
  await catalog.node.flushToMajority()
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

/** @throws CommandError 48 NamespaceExists: another primary shard than the requested one */
function existingDatabase(
  catalog: CatalogHost,
  { db, primaryShard }: RequestOf<'config.create-database'>,
): Uint8Array | null {
  const existing = catalog.store.get('config.databases', db)
  if (existing !== null && primaryShard !== null && findField(existing, 'primary')!.asString() !== primaryShard)
    throw new CommandError(
      'NamespaceExists',
      `database already created on a primary which is different from ${primaryShard}`,
    )
  return existing
}

async function enable(
  catalog: CatalogHost,
  database: Uint8Array,
  enableSharding: boolean,
): Promise<ReplyOf<'config.create-database'>> {
  if (!enableSharding || !catalog.markPartitioned(database)) return { database, error: null }
  await catalog.node.flushToMajority()
  return { database: catalog.database(findField(database, '_id')!.asString()), error: null }
}

/** @throws CommandError 72 InvalidOptions, 13297 DatabaseDifferCase */
function checkNewName(catalog: CatalogHost, db: string): void {
  if (internalDatabases.has(db))
    throw new CommandError('InvalidOptions', `Cannot manually create or shard the '${db}' database`)
  if (db.includes('$')) throw new CommandError('InvalidNamespace', `Invalid db name specified: ${db}`)
  const twin = catalog.store
    .find('config.databases')
    .map((document) => findField(document, '_id')!.asString())
    .find((name) => name.toLowerCase() === db.toLowerCase())
  if (twin !== undefined)
    throw new CommandError(
      'DatabaseDifferCase',
      `can't have 2 databases that just differ on case have: ${twin} want to add: ${db}`,
    )
}

/** @throws CommandError 70 ShardNotFound */
function checkShard(catalog: CatalogHost, shard: string): void {
  const shards = catalog.shardIds()
  if (shards.length === 0) throw noShards(catalog.behaviours)
  if (!shards.includes(shard)) throw new CommandError('ShardNotFound', `Shard ${shard} not found`)
}

/**
 * Ties go to the first. Shards that leave before the last reply are skipped.
 * @throws CommandError 70 ShardNotFound; RequestFailedError when a shard does not answer
 */
async function smallestShard(catalog: DatabaseHost): Promise<string> {
  const { context } = catalog.node
  for (;;) {
    const asked = catalog.shardIds()
    if (asked.length === 0) throw noShards(catalog.behaviours)
    const sizeOf = async (shard: string): Promise<number> => {
      try {
        return (await context.request(shard, 'shard.data-size', {}, { timeoutMs: dataSizeTimeoutMs })).sizeBytes
      } catch (error) {
        if (error instanceof RequestFailedError && !catalog.shardIds().includes(shard)) return Number.POSITIVE_INFINITY
        throw error
      }
    }
    const sizes = await context.all(asked.map(sizeOf))
    const members = new Set(catalog.shardIds())
    const least = Math.min(...sizes.filter((_, i) => members.has(asked[i]!)))
    const smallest = asked.find((shard, i) => members.has(shard) && sizes[i] === least)
    if (smallest !== undefined) return smallest
  }
}

async function dropDatabase(
  catalog: CatalogHost,
  request: RequestOf<'config.commit-drop-database'>,
): Promise<ReplyOf<'config.commit-drop-database'>> {
  const { db, databaseUuid } = request
  await dropCollections(catalog, request)
  const database = catalog.store.get('config.databases', db)
  if (database !== null && databaseUuidOf(database) === databaseUuid) {
    removeQueryAnalyzersOf(catalog, db)
    forgetRefusal(catalog, db)
    catalog.store.remove('config.databases', database)
    await catalog.node.flushToMajority()
    catalog.emitChange('database-dropped', db)
  }
  return { error: null }
}
