import { checkCollectionName, checkDatabaseName, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { collectionUuidOf, onNamedNamespace } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'

/** Server: cluster_refine_collection_shard_key_cmd.cpp. */
export const refineCollectionShardKey: CommandRow<MongosInvocation> = {
  name: 'refineCollectionShardKey',
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedNamespace('refineCollectionShardKey'),
  adminOnly: true,
  manual: 'reference/command/refineCollectionShardKey',
  status: 'full',
  summary: 'Adds fields at the end of the shard key of a collection.',
  behaviour: 'refineCollectionShardKeyCommand',
  fields: { key: 'object!', collectionUUID: 'binary', enforceUniquenessCheck: 'strictBool' },
  unknownFields: 'ignored',
  run(invocation) {
    const { args, host, operation } = invocation
    const ns = args.targetString()
    const dot = ns.indexOf('.')
    if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
    const db = ns.slice(0, dot)
    checkDatabaseName(db)
    checkCollectionName(db, ns.slice(dot + 1))
    const collectionUuid = collectionUuidOf(args)
    return withDatabase(invocation, db, false, async (database) => {
      if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      const { error } = await host.remote.request(
        database.primaryShard,
        'shard.refine-collection-shard-key',
        {
          ns,
          key: args.document('key')!,
          enforceUniqueness: args.bool('enforceUniquenessCheck') ?? true,
          collectionUuid,
          databaseVersion: database.version,
        },
        operation,
      )
      raise(error)
      host.catalog.forgetCollection(ns)
      return new DocumentWriter(128)
    })
  },
}
