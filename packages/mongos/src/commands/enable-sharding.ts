import { checkDatabaseName, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'

export const enableSharding: CommandRow<MongosInvocation> = {
  name: 'enableSharding',
  aliases: ['enablesharding'],
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/enableSharding',
  status: 'full',
  summary: 'Creates a database, on the primary shard that is asked for.',
  fields: { primaryShard: 'string' },
  async run({ args, host, operation }) {
    if (args.target.type !== BsonType.string)
      throw new CommandError('InvalidNamespace', `invalid db name specified: ${args.target.isNumber() ? args.target.asNumber() : ''}`)
    const db = args.target.asString()
    checkDatabaseName(db)
    await host.catalog.enableSharding(db, args.string('primaryShard') ?? null, operation)
    return new DocumentWriter(192)
  },
}
