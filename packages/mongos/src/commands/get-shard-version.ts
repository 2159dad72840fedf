import { configAddress, type CommandRow } from '@shardlab/actor'
import { arrayIndexName, BsonType, CommandError, compareDocuments, DocumentWriter, typeName } from '@shardlab/bson'
import { parseChunk } from '@shardlab/sharding'
import { databaseNameOf, getShardVersionSpec } from '@shardlab/member'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { Operation } from '../dispatch/operation.js'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'

/** Server: cluster_get_shard_version_cmd.cpp. */
export const getShardVersion: CommandRow<MongosInvocation> = {
  ...getShardVersionSpec,
  aliases: ['getshardversion'],
  routing: 'local',
  status: 'partial',
  deviations: ['D852'],
  summary: 'Shows the version of a sharded collection or of a database, as cached by the router.',
  async run({ args, host, operation }) {
    const { target } = args
    if (target.type !== BsonType.string)
      throw new CommandError('BadValue', `namespace has invalid type ${typeName(target.type)}`)
    const ns = target.asString()
    if (!ns.includes('.')) return databaseVersion(host, ns, operation)
    const placement = host.catalog.peekCollection(ns) ?? (await host.catalog.collection(ns, operation))
    if (placement === null) await databaseOf(host, databaseNameOf(ns), operation)
    if (placement === null || placement.isUnsplittable)
      throw new CommandError('NamespaceNotSharded', `Collection ${ns} is not sharded.`)
    const [epoch, seconds, increment, major, minor] = placement.table.version
    const writer = new DocumentWriter(256)
      .timestamp('version', major, minor)
      .objectId('versionEpoch', Buffer.from(epoch, 'hex'))
    if (host.behaviours.chunksAreKeyedByUuid) writer.timestamp('versionTimestamp', seconds, increment)
    if (args.value('fullMetadata')?.isTruthy() === true) await writeChunks(writer, host, ns, operation)
    return writer
  },
}

const replyBytesMax = 16 * 1024 * 1024

/** `chunks: [[min, max], …]` in key order, or `exceededSize`. */
async function writeChunks(writer: DocumentWriter, host: RoutingHost, ns: string, operation: Operation): Promise<void> {
  const { chunks } = await host.remote.request(
    configAddress,
    'config.get-chunks',
    { ns, since: null, limit: null },
    operation,
  )
  const sorted = chunks.map(parseChunk).sort((a, b) => compareDocuments(a.min, b.min))
  const bytes = sorted.reduce((sum, { min, max }) => sum + min.length + max.length + 2 * bytesPerElement, writer.length)
  if (bytes > replyBytesMax) {
    writer.bool('exceededSize', true)
    return
  }
  writer.startArray('chunks')
  sorted.forEach(({ min, max }, i) => writer.startArray(arrayIndexName(i)).document('0', min).document('1', max).end())
  writer.end()
}

/** Approximate, for the array around an element. */
const bytesPerElement = 8

/** @throws CommandError 26 NamespaceNotFound */
async function databaseVersion(host: RoutingHost, db: string, operation: Operation): Promise<DocumentWriter> {
  const database = await databaseOf(host, db, operation)
  const [uuid, seconds, increment, lastMod] = database.version
  const writer = new DocumentWriter(256).string('primaryShard', database.primaryShard).startDocument('version')
  writer.uuid('uuid', Buffer.from(uuid, 'hex'))
  if (host.behaviours.chunksAreKeyedByUuid) writer.timestamp('timestamp', seconds, increment)
  return writer.int32('lastMod', lastMod).end()
}

/** @throws CommandError 26 NamespaceNotFound */
async function databaseOf({ catalog }: RoutingHost, db: string, operation: Operation): Promise<DatabaseEntry> {
  const database = catalog.peekDatabase(db) ?? (await catalog.database(db, operation))
  if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  return database
}
