import { checkCollectionName, checkDatabaseName, checkFields, type CommandRow, type FieldSpecs } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, noCode, typeName } from '@shardlab/bson'
import { shardCollectionFields } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'
import { onNamedNamespace } from '@shardlab/member'

export const shardCollection: CommandRow<MongosInvocation> = {
  name: 'shardCollection',
  aliases: ['shardcollection'],
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedNamespace('enableSharding'),
  adminOnly: true,
  manual: 'reference/command/shardCollection',
  status: 'partial',
  deviations: ['D400', 'D810', 'D811', 'D854'],
  summary: 'Shards a collection; creates the collection and its database if they do not exist.',
  async run(invocation) {
    const { body, host, operation } = invocation
    const { db, ns } = namespaceOf(invocation)
    const { behaviours } = host
    const { databasesNeedEnableSharding, shardCollectionReplyHasUuid } = behaviours
    const fields: FieldSpecs = behaviours.shardKeyDefaultsToId
      ? shardCollectionFields
      : { ...shardCollectionFields, key: 'object!' }
    checkFields('ShardCollection', body, fields, 'ignored')
    if (db === 'config')
      throw new CommandError(
        'IllegalOperation',
        behaviours.alreadyShardedError === 'tracked'
          ? `Special collection '${ns}' cannot be sharded`
          : 'only special collections in the config db may be sharded',
      )
    // Another router may have enabled sharding since this entry was fetched.
    const known = host.catalog.peekDatabase(db)
    if (databasesNeedEnableSharding && known?.partitioned === false) host.catalog.markDatabaseStale(db, known)
    return withDatabase(invocation, db, !databasesNeedEnableSharding, async (database) => {
      if (database === null && behaviours.shardCollectionErrorsHaveCodes)
        throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      if (database === null || (databasesNeedEnableSharding && !database.partitioned))
        throw behaviours.shardCollectionErrorsHaveCodes
          ? new CommandError('IllegalOperation', `sharding not enabled for db ${db}`)
          : new CommandError(noCode, 'sharding not enabled for db')
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
  if (args.target.type !== BsonType.string)
    throw new CommandError('BadValue', `collection name has invalid type ${typeName(args.target.type)}`)
  const ns = args.target.asString()
  const dot = ns.indexOf('.')
  if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
  const db = ns.slice(0, dot)
  checkDatabaseName(db)
  checkCollectionName(db, ns.slice(dot + 1))
  return { db, ns }
}
