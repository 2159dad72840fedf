import { checkDatabaseName, checkFields, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import { internalDatabases } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'
import { onNamedDatabase } from '@shardlab/member'

/** Server: cluster_move_primary_cmd.cpp, configsvr_move_primary_command.cpp. */
export const movePrimary: CommandRow<MongosInvocation> = {
  name: 'movePrimary',
  aliases: ['moveprimary'],
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedDatabase('moveChunk'),
  adminOnly: true,
  manual: 'reference/command/movePrimary',
  status: 'partial',
  deviations: ['D854'],
  summary: 'Makes another shard the primary shard of a database, and moves the unsharded collections there.',
  async run(invocation) {
    const { args, body, host, operation } = invocation
    const { movePrimaryReply, movePrimaryIsTyped } = host.behaviours
    if (!movePrimaryIsTyped && args.target.type !== BsonType.string)
      throw new CommandError('InvalidNamespace', "'movePrimary' must be of type String")
    const db = args.targetString()
    checkFields(movePrimaryIsTyped ? 'movePrimary' : 'MovePrimary', body, { to: 'string!' }, 'ignored')
    checkDatabaseName(db)
    if (internalDatabases.has(db)) throw new CommandError('InvalidOptions', `Can't move primary for ${db} database`)
    const to = args.string('to')!
    if (to === '') throw new CommandError('InvalidOptions', 'you have to specify where you want to move it')
    const shard = (await host.shards.find(to, operation)) ?? to
    return withDatabase(invocation, db, false, async (database) => {
      if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      const { primaryShard, version } = database
      try {
        raise(
          (
            await host.remote.request(
              primaryShard,
              'shard.move-primary',
              { db, to: shard, databaseVersion: version },
              operation,
            )
          ).error,
        )
      } finally {
        host.catalog.forgetDatabase(db)
      }
      const namesPrimary =
        movePrimaryReply === 'primary' || (movePrimaryReply === 'primary-when-unchanged' && primaryShard === shard)
      const writer = new DocumentWriter(192)
      return namesPrimary ? writer.string('primary', `${shard}:${host.shards.connectionString(shard)}`) : writer
    })
  },
}
