/** Server: sharding_catalog_manager_shard_operations.cpp. */
import { uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { boolValue, CommandError, DocumentWriter, findField, int64Value, noCode, stringValue } from '@shardlab/bson'
import { connectionStringOf, raiseError } from '@shardlab/node'
import type { Behaviours } from '@shardlab/sharding'
import { databaseDocument, isUnsplittable, shardDocument } from '../store/catalog-documents.js'
import { logChange } from '../changelog.js'
import { pushClusterParameters } from '../settings/cluster-parameters.js'
import { parseConnectionString, type ConnectionString } from './connection-string.js'
import { byId, stringFilter } from '../store/catalog-store.js'
import { recordDeparture } from './departures.js'
import { checkDefaultWriteConcern, introduce } from './introduction.js'
import { nameMember } from './shard-names.js'
import { withFields } from '../store/document-changes.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'
import { isOnlyShardOfUsedZone, zonesOfShard } from '../zones/zones.js'

export const shardHandlers: ConfigHandlers<
  'config.add-shard' | 'config.remove-shard' | 'config.introduce' | 'config.update-shard-host'
> = {
  'config.introduce': ({ node }) => ({ connectionString: connectionStringOf(node) }),
  'config.add-shard': addShard,
  'config.remove-shard': removeShard,
  'config.update-shard-host': updateShardHost,
}

async function addShard(
  catalog: CatalogHost,
  request: RequestOf<'config.add-shard'>,
): Promise<ReplyOf<'config.add-shard'>> {
  const { node, store } = catalog
  const { context } = node
  const target = parseConnectionString(request.connectionString)
  if (request.name === '') throw new CommandError('BadValue', 'shard name cannot be empty')
  const existing = existingShard(catalog, target, request)
  if (existing !== null) return { shard: existing, error: null }
  const introduced = await introduce(node, target, request.connectionString)
  const { setName, hosts, passives, databases } = introduced
  const name = request.name ?? setName
  if (name === 'config')
    throw new CommandError('BadValue', "use of shard replica set with name 'config' is not allowed")
  checkDefaultWriteConcern(catalog, request.connectionString, introduced)
  checkDatabases(catalog, request.connectionString, databases)
  if (name !== setName && !(await nameMember(context, setName, name)))
    throw new CommandError(
      'CommandNotSupported',
      `a shard cannot have the name ${name}: another member of this process is ${name}`,
    )
  const identity = { clusterId: catalog.clusterId(), shardName: name, configHost: connectionStringOf(node) }
  raiseError((await context.request(setName, 'shard.initialise', identity)).error)
  await context.request(setName, 'shard.set-feature-compatibility-version', {
    version: node.featureCompatibilityVersion,
  })
  await context.reach('config.add-shard.prepared', { shard: name })
  await pushClusterParameters(node, setName)
  // Another addShard may have completed first.
  const faster = existingShard(catalog, target, request)
  if (faster !== null) return { shard: faster, error: null }
  // A database of the same name may have been created since the check.
  checkDatabases(catalog, request.connectionString, databases)
  const document = shardDocument(
    catalog.behaviours,
    name,
    `${setName}/${[...hosts, ...passives].join(',')}`,
    node.clock.tick(),
  )
  store.put(
    'config.shards',
    request.maxSizeMb > 0 ? withFields(document, { maxSize: int64Value(BigInt(request.maxSizeMb)) }) : document,
  )
  for (const db of databases) adoptDatabase(catalog, db, name)
  const details = new DocumentWriter(128).string('name', name).string('host', request.connectionString).finish()
  logChange(catalog, { what: 'addShard', ns: '', details })
  await node.flushToMajority()
  return { shard: name, error: null }
}

/** Server: ShardRegistry::updateReplicaSetOnConfigServer. */
async function updateShardHost(
  { node, store }: CatalogHost,
  { setName, connectionString }: RequestOf<'config.update-shard-host'>,
): Promise<ReplyOf<'config.update-shard-host'>> {
  const document = store.all('config.shards').find((shard) => listedShard(shard).known.setName === setName)
  if (document === undefined || listedShard(document).host === connectionString) return {}
  store.put('config.shards', withFields(document, { host: stringValue(connectionString) }))
  await node.flushToMajority()
  return {}
}

/** @throws CommandError 96 OperationFailed when the cluster has one of the new shard's databases */
function checkDatabases(catalog: CatalogHost, connectionString: string, databases: readonly string[]): void {
  for (const db of databases) {
    const database = catalog.database(db)
    if (database === null) continue
    const primary = findField(database, 'primary')!.asString()
    throw new CommandError(
      'OperationFailed',
      `can't add shard '${connectionString}' because a local database '${db}' exists in another ${primary}`,
    )
  }
}

/** Registers a database that a new shard already has; the shard becomes its primary. */
function adoptDatabase({ node, store, behaviours }: CatalogHost, db: string, primary: string): void {
  const uuid = uuidV4(node.context.random)
  store.put(
    'config.databases',
    databaseDocument(behaviours, { db, primary, partitioned: false, uuid, timestamp: node.clock.tick() }),
  )
}

interface ListedShard {
  readonly id: string
  readonly host: string
  readonly known: ConnectionString
  readonly limitMb: number
}

/** Cached, because each new shard is compared with all existing ones. */
const listedShards = new WeakMap<Uint8Array, ListedShard>()

function listedShard(document: Uint8Array): ListedShard {
  const read = listedShards.get(document)
  if (read !== undefined) return read
  const host = findField(document, 'host')!.asString()
  const limitMb = findField(document, 'maxSize')?.asNumber() ?? 0
  const listed = { id: findField(document, '_id')!.asString(), host, known: parseConnectionString(host), limitMb }
  listedShards.set(document, listed)
  return listed
}

/**
 * The shard that an earlier, equal request added; null: none.
 * @throws CommandError 20 IllegalOperation when an existing shard conflicts
 */
function existingShard(
  catalog: CatalogHost,
  target: ConnectionString,
  { name, maxSizeMb }: RequestOf<'config.add-shard'>,
): string | null {
  for (const document of catalog.store.all('config.shards')) {
    const { id, host, known, limitMb } = listedShard(document)
    const isEquivalent = (name === null || name === id) && known.setName === target.setName && limitMb === maxSizeMb
    if (known.setName !== null && known.setName === target.setName) {
      if (isEquivalent) return id
      throw new CommandError('IllegalOperation', `A shard already exists containing the replica set '${known.setName}'`)
    }
    const shared = target.hosts.find((each) => known.hosts.includes(each))
    if (shared !== undefined)
      throw new CommandError(
        'IllegalOperation',
        `'${shared}' is already a member of the existing shard '${host}' (${id}).`,
      )
    if (name === id) throw new CommandError('IllegalOperation', `A shard named ${name} already exists`)
  }
  return null
}

async function removeShard(
  catalog: CatalogHost,
  { shard: asked }: RequestOf<'config.remove-shard'>,
): Promise<ReplyOf<'config.remove-shard'>> {
  const { node, store, behaviours } = catalog
  const shards = store.all('config.shards')
  const idOf = (document: Uint8Array) => findField(document, '_id')!.asString()
  const document = shards.find((each) => isNamed(each, asked))
  if (document === undefined) throw unknownShard(behaviours, asked)
  const shard = idOf(document)
  checkRemovable(
    catalog,
    document,
    shards.filter((each) => each !== document),
  )
  const databases = store.find('config.databases', stringFilter('primary', shard), byId).map(idOf)
  const left = {
    databases: databases.length,
    databasesToMove: databases,
    collectionsToMove: unsplittableOn(catalog, shard),
  }
  const reply = { shard, chunks: 0, jumboChunks: 0, ...left, error: null }
  const details = new DocumentWriter(64).string('shard', shard).finish()
  if (!isDraining(document)) {
    store.put('config.shards', withFields(document, { draining: boolValue(true) }))
    logChange(catalog, { what: 'removeShard.start', ns: '', details })
    await node.flushToMajority()
    return { ...reply, state: 'started' }
  }
  const chunks = store.find('config.chunks', stringFilter('shard', shard))
  if (chunks.length > 0 || databases.length > 0) {
    const jumboChunks = chunks.filter((chunk) => findField(chunk, 'jumbo')?.isTruthy() === true).length
    return { ...reply, chunks: chunks.length - reply.collectionsToMove.length, jumboChunks, state: 'ongoing' }
  }
  store.remove('config.shards', document)
  recordDeparture(catalog, shard)
  renewTopologyTime(catalog)
  logChange(catalog, { what: 'removeShard', ns: '', details })
  await node.flushToMajority()
  return { ...reply, state: 'completed' }
}

function unsplittableOn(catalog: CatalogHost, shard: string): string[] {
  return catalog
    .collections()
    .filter(
      (entry) =>
        isUnsplittable(entry) && catalog.chunks(entry).some((chunk) => findField(chunk, 'shard')!.asString() === shard),
    )
    .map((entry) => findField(entry, '_id')!.asString())
}

function unknownShard({ removeShardErrors }: Behaviours, name: string): CommandError {
  switch (removeShardErrors) {
    case 'without-codes':
      return new CommandError(13129, `can't find shard for: ${name}`)
    case 'not-dropped':
      return new CommandError('ShardNotFound', `Could not drop shard '${name}' because it does not exist`)
    default:
      return new CommandError('ShardNotFound', `Shard ${name} not found`)
  }
}

export function isDraining(shard: Uint8Array): boolean {
  return findField(shard, 'draining')?.isTruthy() === true
}

/** Whether `name` is the shard's id, or its host with or without the set name. */
function isNamed(shard: Uint8Array, name: string): boolean {
  const host = findField(shard, 'host')!.asString()
  return (
    findField(shard, '_id')!.asString() === name ||
    host === name ||
    host
      .slice(host.indexOf('/') + 1)
      .split(',')
      .includes(name)
  )
}

/**
 * @throws CommandError 117 ConflictingOperationInProgress, 20 IllegalOperation, 163 ZoneStillInUse;
 * without codes in 2.6
 */
function checkRemovable(catalog: CatalogHost, shard: Uint8Array, others: readonly Uint8Array[]): void {
  const { oneShardDrainsAtATime, removeShardErrors } = catalog.behaviours
  if (oneShardDrainsAtATime) {
    const hasCodes = removeShardErrors !== 'without-codes'
    if (others.some(isDraining))
      throw new CommandError(
        hasCodes ? 'ConflictingOperationInProgress' : noCode,
        "Can't have more than one draining shard at a time",
      )
    if (others.length === 0) throw new CommandError(hasCodes ? 'IllegalOperation' : noCode, "Can't remove last shard")
    return
  }
  if (others.every(isDraining))
    throw new CommandError('IllegalOperation', 'Operation not allowed because it would remove the last shard')
  for (const zone of zonesOfShard(shard)) {
    if (isOnlyShardOfUsedZone(catalog, shard, zone))
      throw new CommandError(
        'ZoneStillInUse',
        `Operation not allowed because it would remove the only shard for zone ${zone} which has a chunk range is associated with it`,
      )
  }
}

/** Members compare topology times, so a new one makes them notice the removal. */
function renewTopologyTime({ node, store }: CatalogHost): void {
  const remaining = store.all('config.shards')[0]
  if (remaining === undefined || findField(remaining, 'topologyTime') === undefined) return
  const [t, i] = node.clock.tick()
  const time = findField(new DocumentWriter(32).timestamp('t', t, i).finish(), 't')!
  store.put('config.shards', withFields(remaining, { topologyTime: time }))
}
