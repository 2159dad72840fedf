import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import type { Operation } from '../command/operation.js'
import type { Mongos } from '../mongos.js'

/** Server: cluster_get_shard_version_cmd.cpp. */
export const getShardVersion: CommandRow<MongosInvocation> = {
  name: 'getShardVersion',
  aliases: ['getshardversion'],
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getShardVersion',
  status: 'partial',
  missing: 'fullMetadata, the list of chunks',
  summary: 'Tells the version of a sharded collection or of a database as this router knows it.',
  async run({ args, host, operation }) {
    const { target } = args
    if (target.type !== BsonType.string) throw new CommandError('BadValue', `namespace has invalid type ${typeName(target.type)}`)
    if (args.value('fullMetadata')?.isTruthy() === true)
      throw new CommandError('InvalidOptions', 'fullMetadata is not supported in getShardVersion')
    const ns = target.asString()
    if (!ns.includes('.')) return databaseVersion(host, ns, operation)
    const placement = host.catalog.peekCollection(ns) ?? (await host.catalog.collection(ns, operation))
    if (placement === null) throw new CommandError('NamespaceNotSharded', `Collection ${ns} is not sharded.`)
    const [epoch, seconds, increment, major, minor] = placement.table.version
    const writer = new DocumentWriter(256).timestamp('version', major, minor).objectId('versionEpoch', Buffer.from(epoch, 'hex'))
    return host.behaviours.chunksAreKeyedByUuid ? writer.timestamp('versionTimestamp', seconds, increment) : writer
  },
}

/** @throws CommandError 26 NamespaceNotFound */
async function databaseVersion({ behaviours, catalog }: Mongos, db: string, operation: Operation): Promise<DocumentWriter> {
  const database = catalog.peekDatabase(db) ?? (await catalog.database(db, operation))
  if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  const [uuid, seconds, increment, lastMod] = database.version
  const writer = new DocumentWriter(256).string('primaryShard', database.primaryShard).startDocument('version')
  writer.uuid('uuid', Buffer.from(uuid, 'hex'))
  if (behaviours.chunksAreKeyedByUuid) writer.timestamp('timestamp', seconds, increment)
  return writer.int32('lastMod', lastMod).end()
}
