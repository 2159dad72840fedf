import { checkCollectionName, checkDatabaseName, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'

export const shardCollection: CommandRow<MongosInvocation> = {
  name: 'shardCollection',
  aliases: ['shardcollection'],
  routing: 'primary-shard',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/shardCollection',
  status: 'full',
  summary: 'Shards a collection; its database and the collection are made when they are missing.',
  fields: {
    key: 'object!',
    unique: 'bool',
    numInitialChunks: 'number',
    presplitHashedZones: 'bool',
    collation: 'object',
    timeseries: 'object',
    enforceUniquenessCheck: 'bool',
    implicitlyCreateIndex: 'bool',
    collectionUUID: 'binary',
  },
  async run(invocation) {
    const { args, body, host, operation } = invocation
    const { db, ns } = namespaceOf(invocation)
    const { databasesNeedEnableSharding, shardCollectionReplyHasUuid } = host.behaviours
    if (args.document('key') === undefined)
      throw new CommandError(40414, "BSON field 'shardCollection.key' is missing but a required field")
    // Another router may have enabled sharding since this one read the database.
    const known = host.catalog.peekDatabase(db)
    if (databasesNeedEnableSharding && known?.partitioned === false) host.catalog.markDatabaseStale(db, known)
    return withDatabase(invocation, db, !databasesNeedEnableSharding, async (database) => {
      if (database === null || (databasesNeedEnableSharding && !database.partitioned))
        throw new CommandError('IllegalOperation', `sharding not enabled for db ${db}`)
      const { uuid, error } = await host.remote.request(
        database.primaryShard,
        'shard.create-sharded-collection',
        { ns, body, databaseVersion: database.version },
        operation,
      )
      raise(error)
      host.catalog.forgetCollection(ns)
      const writer = new DocumentWriter(256).string('collectionsharded', ns)
      return shardCollectionReplyHasUuid ? writer.uuid('collectionUUID', uuid) : writer
    })
  },
}

function namespaceOf({ args }: MongosInvocation): { db: string; ns: string } {
  const ns = args.target.type === BsonType.string ? args.target.asString() : ''
  const dot = ns.indexOf('.')
  if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
  const db = ns.slice(0, dot)
  checkDatabaseName(db)
  checkCollectionName(db, ns.slice(dot + 1))
  return { db, ns }
}
