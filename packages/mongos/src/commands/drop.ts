import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import { collectionUuidOf, uuidMismatch, dropSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { configCommand, configMemberOf, passThrough, withDatabase } from '../routing/primary.js'

export const drop: CommandRow<MongosInvocation> = {
  ...dropSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Drops a collection on all shards and from the catalog, or a view.',
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const member = configMemberOf(db)
    if (member !== null && host.behaviours.catalogCollectionsCannotBeDropped)
      throw new CommandError('IllegalOperation', `Cannot drop collection in '${db}' database in sharded cluster`)
    if (member !== null) return passThrough(invocation, member, configCommand(invocation), false)
    const collectionUuid = collectionUuidOf(args)
    return withDatabase(invocation, db, false, async (database) => {
      if (database === null && collectionUuid !== null) throw uuidMismatch(ns, collectionUuid, null)
      const reply =
        database === null
          ? null
          : await host.remote.request(
              database.primaryShard,
              'shard.drop-collection',
              { ns, collectionUuid, databaseVersion: database.version },
              invocation.operation,
            )
      if (reply !== null) raise(reply.error)
      host.catalog.forgetCollection(ns)
      host.cursors.collectionsDropped((each) => each === ns)
      if (reply === null || !reply.existed) {
        if (!host.behaviours.routersDropMissingCollections) throw new CommandError(noCode, 'ns not found')
        return new DocumentWriter(192)
      }
      const writer = new DocumentWriter(256)
      if (reply.indexCount !== null) writer.int32('nIndexesWas', reply.indexCount)
      return writer.string('ns', ns)
    })
  },
}
