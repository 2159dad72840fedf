import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, findPath, type RawValue } from '@shardlab/bson'
import { batchSizeOf, listSource } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { inconsistentIndexes } from '../consistency/inconsistent-indexes.js'
import { readCursorReply } from '../cursors/cursor-reply.js'
import { SourceStream } from '../cursors/source-stream.js'
import { askAll } from '../reads/ask-all.js'
import { openMerged } from '../reads/open-cursor.js'
import type { RemoteCommand } from '../remote/remote.js'
import { documentsIn } from '../remote/command-reply.js'

/** Enough for every list that is read here in one batch. */
const wholeBatch = 1_000_000

/** Server: cluster_check_metadata_consistency_cmd.cpp, metadata_consistency_util.cpp. */
export const checkMetadataConsistency: CommandRow<MongosInvocation> = {
  name: 'checkMetadataConsistency',
  routing: 'all-shards',
  access: 'admin',
  behaviour: 'metadataConsistencyCheck',
  manual: 'reference/command/checkMetadataConsistency',
  status: 'partial',
  lacks:
    'inconsistencies but collections on the wrong shard and indexes: ranges, zones and options that contradict each other are not found',
  summary: 'Compares what the shards hold with the catalog: of a collection, of a database, or on admin of all.',
  fields: { cursor: 'object', checkIndexes: 'bool', dbMetadataLockMaxTimeMS: 'number' },
  async run(invocation) {
    const { args, db } = invocation
    const batchSize = batchSizeOf(args)
    const collection = args.target.type === BsonType.string ? args.collectionName(db) : null
    if (db === 'admin' && collection !== null) {
      throw new CommandError(
        'InvalidNamespace',
        `checkMetadataConsistency command on admin database can only be run without collection name. Found unexpected collection name: ${collection}`,
      )
    }
    const ns = collection === null ? `${db}.$cmd.aggregate` : `${db}.${collection}`
    const only = collection === null ? null : ns
    const sharded = (await readConfig(invocation, 'collections', null)).map((each) => findField(each, '_id')!.asString())
    const found = await misplacedCollections(invocation, new Set(sharded), only)
    if (args.bool('checkIndexes') === true)
      for (const each of sharded.filter((name) => isConcerned(name, db, only))) found.push(...(await indexesOf(invocation, each)))
    const stream = new SourceStream(listSource(found))
    return openMerged(invocation, ns, stream, { noTimeout: false, batchSize, singleBatch: false, partial: false })
  },
}

function isConcerned(ns: string, db: string, only: string | null): boolean {
  if (only !== null) return ns === only
  return db === 'admin' || ns.startsWith(`${db}.`)
}

async function indexesOf(invocation: MongosInvocation, ns: string): Promise<Uint8Array[]> {
  const placement = await invocation.host.catalog.collection(ns, invocation.operation)
  return placement === null ? [] : inconsistentIndexes(invocation, ns, [...placement.table.owners()].sort())
}

/** Unsharded collections on shards that are not the primary of their database. @throws CommandError 26 without the database */
async function misplacedCollections(
  invocation: MongosInvocation,
  sharded: ReadonlySet<string>,
  only: string | null,
): Promise<Uint8Array[]> {
  const { db, host, operation } = invocation
  const databases = await readConfig(invocation, 'databases', db === 'admin' ? null : db)
  if (db !== 'admin' && databases.length === 0) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  const shards = await host.shards.ids(operation)
  const found: Uint8Array[] = []
  for (const database of databases) {
    const name = findField(database, '_id')!.asString()
    const primary = findField(database, 'primary')!.asString()
    const others = shards.filter((shard) => shard !== primary)
    for (const [shard, reply] of await askAll(invocation, others, () => listCollections(name))) {
      for (const collection of documentsIn(cursorOf(reply), 'firstBatch')) {
        const ns = `${name}.${findField(collection, 'name')!.asString()}`
        if (sharded.has(ns) || (only !== null && ns !== only)) continue
        const uuid = findPath(collection, 'info.uuid')
        if (uuid !== undefined) found.push(misplaced(ns, shard, uuid))
      }
    }
  }
  return found
}

function misplaced(ns: string, shard: string, uuid: RawValue): Uint8Array {
  return new DocumentWriter(256)
    .string('type', 'MisplacedCollection')
    .string('description', 'Unsharded collection found on shard different from database primary shard')
    .startDocument('details')
    .string('namespace', ns)
    .string('shard', shard)
    .value('localUUID', uuid)
    .end()
    .finish()
}

/** Documents of a collection of the catalog; with `id` that one alone. */
async function readConfig(invocation: MongosInvocation, collection: string, id: string | null): Promise<Uint8Array[]> {
  const body = new DocumentWriter(256).string('find', collection)
  if (id !== null) body.startDocument('filter').string('_id', id).end()
  const command = unversioned('config', body.int32('batchSize', wholeBatch).string('$db', 'config').finish())
  const [[, reply]] = (await askAll(invocation, [configAddress], () => command)) as [readonly [string, Uint8Array]]
  return documentsIn(cursorOf(reply), 'firstBatch')
}

function listCollections(db: string): RemoteCommand {
  const body = new DocumentWriter(256).int32('listCollections', 1).startDocument('filter').string('type', 'collection').end()
  return unversioned(db, body.startDocument('cursor').int32('batchSize', wholeBatch).end().string('$db', db).finish())
}

function unversioned(db: string, body: Uint8Array): RemoteCommand {
  return { db, body, sequences: [], shardVersion: null, databaseVersion: null, stmtIds: null }
}

function cursorOf(reply: Uint8Array): Uint8Array {
  return readCursorReply(reply, 'firstBatch').cursor.slice()
}
