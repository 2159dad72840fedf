/**
 * Manual: reference/operator/aggregation/listClusterCatalog. Server:
 * document_source_list_cluster_catalog.cpp, document_source_internal_list_collections.cpp.
 */
import { configAddress, unversioned } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  emptyDocument,
  FieldIterator,
  findField,
  type RawValue,
} from '@shardlab/bson'
import { listSource, splitNamespace } from '@shardlab/member'
import { internalDatabases } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'
import { readCursorReply } from '../cursors/cursor-reply.js'
import { documentsIn, replyError } from '../remote/command-reply.js'
import { configDocuments } from '../remote/config-documents.js'
import { withDatabase } from '../routing/primary.js'
import type { MongosStageSource } from './source.js'

const bytesPerMb = 1024 * 1024
const wholeBatch = 100_000

export const listClusterCatalogSource: MongosStageSource = {
  name: '$listClusterCatalog',
  place: () => 'router',
  async open({ invocation, ns, argument }) {
    const [db, collection] = splitNamespace(ns)
    if (collection !== '$cmd.aggregate')
      throw new CommandError(9621301, 'The $listClusterCatalog stage must run on a database, not a collection.')
    const asks = (name: string) => findField(argument.bytes, name, argument.start)?.isTruthy() ?? false
    const catalog = await readCatalog(invocation, asks('shards'), asks('balancingConfiguration'), asks('tracked'))
    const databases = db === 'admin' ? await databaseNames(invocation) : [db]
    const entries: Uint8Array[] = []
    for (const name of databases.filter((each) => !internalDatabases.has(each))) {
      const { listed, primary } = await collectionsOf(invocation, name)
      entries.push(...listed.map((entry) => catalogEntry(name, entry, primary, catalog)))
    }
    return listSource(entries)
  },
}

interface CatalogView {
  /** config.collections documents by namespace. */
  readonly tracked: ReadonlyMap<string, Uint8Array>
  /** Arrays of shards by UUID in hexadecimal digits; null: not requested. */
  readonly shards: ReadonlyMap<string, RawValue> | null
  /** The cluster's chunk size in megabytes; null: balancing was not requested. */
  readonly chunkSizeMb: number | null
  readonly tellsTracked: boolean
}

async function readCatalog(
  invocation: MongosInvocation,
  shards: boolean,
  balancing: boolean,
  tellsTracked: boolean,
): Promise<CatalogView> {
  const collections = await configDocuments(invocation, 'collections', emptyDocument, emptyDocument)
  return {
    tracked: new Map(collections.map((each) => [findField(each, '_id')!.asString(), each])),
    shards: shards ? await shardsByUuid(invocation) : null,
    chunkSizeMb: balancing ? await chunkSizeMb(invocation) : null,
    tellsTracked,
  }
}

async function databaseNames(invocation: MongosInvocation): Promise<string[]> {
  const databases = await configDocuments(invocation, 'databases', emptyDocument, emptyDocument)
  return databases.map((each) => findField(each, '_id')!.asString()).sort()
}

async function chunkSizeMb({ host, operation }: MongosInvocation): Promise<number> {
  const { setting } = await host.remote.request(configAddress, 'config.get-setting', { id: 'chunksize' }, operation)
  const value = setting === null ? undefined : findField(setting, 'value')
  return value === undefined ? host.behaviours.defaultChunkSizeBytes / bytesPerMb : Math.trunc(value.asNumber())
}

async function shardsByUuid(invocation: MongosInvocation): Promise<Map<string, RawValue>> {
  const body = new DocumentWriter(192)
    .string('aggregate', 'chunks')
    .startArray('pipeline')
    .startDocument('0')
    .startDocument('$group')
    .string('_id', '$uuid')
    .startDocument('shards')
    .string('$addToSet', '$shard')
    .end()
    .end()
    .end()
    .end()
    .startDocument('cursor')
    .int32('batchSize', wholeBatch)
    .end()
    .string('$db', 'config')
    .finish()
  const { body: reply } = await invocation.host.remote.command(
    configAddress,
    unversioned('config', body),
    invocation.operation,
    true,
  )
  const groups = firstBatchOf(reply)
  return new Map(
    groups.flatMap((group) => {
      const uuid = findField(group, '_id')!
      return uuid.type === BsonType.binary ? [[hex(uuid), findField(group, 'shards')!] as const] : []
    }),
  )
}

async function collectionsOf(
  invocation: MongosInvocation,
  db: string,
): Promise<{ listed: Uint8Array[]; primary: string }> {
  return withDatabase(invocation, db, false, async (database) => {
    if (database === null) return { listed: [], primary: '' }
    const body = new DocumentWriter(96)
      .int32('listCollections', 1)
      .startDocument('cursor')
      .int32('batchSize', wholeBatch)
      .end()
      .string('$db', db)
      .finish()
    const { host, operation } = invocation
    const command = { ...unversioned(db, body), databaseVersion: database.version }
    const { body: reply } = await host.remote.command(database.primaryShard, command, operation, true)
    return { listed: firstBatchOf(reply), primary: database.primaryShard }
  })
}

/** @throws CommandError the reply's error */
function firstBatchOf(reply: Uint8Array): Uint8Array[] {
  const error = replyError(reply)
  if (error !== null) throw error
  return documentsIn(readCursorReply(reply, 'firstBatch').cursor.slice(), 'firstBatch')
}

function catalogEntry(
  db: string,
  listed: Uint8Array,
  primary: string,
  { tracked, shards, chunkSizeMb, tellsTracked }: CatalogView,
): Uint8Array {
  const ns = `${db}.${findField(listed, 'name')!.asString()}`
  const known = tracked.get(ns)
  const field = (name: string) => (known === undefined ? undefined : findField(known, name))
  const isSharded = known !== undefined && field('unsplittable')?.isTruthy() !== true
  const writer = new DocumentWriter(512)
  for (const it = new FieldIterator(listed); it.next();) {
    if (it.name() === 'name') writer.string('ns', ns).string('db', db)
    else writer.value(it.name(), it.value())
  }
  writer.bool('sharded', isSharded)
  if (tellsTracked) writer.bool('tracked', known !== undefined)
  if (isSharded) writer.value('shardKey', field('key')!)
  if (shards !== null) writeShards(writer, known === undefined ? null : (shards.get(uuidOf(listed)) ?? null), primary)
  if (chunkSizeMb === null || !isSharded) return writer.finish()
  const balances = field('noBalance')?.isTruthy() !== true
  const migrates = field('permitMigrations')?.isTruthy() ?? true
  writer.bool('balancingEnabled', balances && migrates)
  writer
    .startDocument('balancingEnabledReason')
    .bool('enableBalancing', balances)
    .bool('allowMigrations', migrates)
    .end()
  writer.bool('autoMergingEnabled', field('enableAutoMerge')?.isTruthy() ?? true)
  const ownBytes = field('maxChunkSizeBytes')
  if (ownBytes === undefined) writer.int32('chunkSize', chunkSizeMb)
  else writer.double('chunkSize', ownBytes.asNumber() / bytesPerMb)
  return writer.finish()
}

function writeShards(writer: DocumentWriter, owners: RawValue | null, primary: string): void {
  writer.startArray('shards')
  const ids = owners === null ? [primary] : elementsOf(owners).map((shard) => shard.asString())
  ids.sort().forEach((shard, i) => writer.string(String(i), shard))
  writer.end()
}

function uuidOf(listed: Uint8Array): string {
  const info = findField(listed, 'info')!
  const uuid = findField(info.bytes, 'uuid', info.start)
  return uuid === undefined ? '' : hex(uuid)
}

const hex = (uuid: RawValue): string => Buffer.from(uuid.bytes.subarray(uuid.start, uuid.end)).toString('hex')
