import { checkDatabaseName, checkFields, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, noCode, typeName } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onNamedDatabase } from '@shardlab/member'

export const enableSharding: CommandRow<MongosInvocation> = {
  name: 'enableSharding',
  aliases: ['enablesharding'],
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedDatabase('enableSharding'),
  adminOnly: true,
  manual: 'reference/command/enableSharding',
  status: 'full',
  summary: 'Creates a database, on the requested primary shard if one is named.',
  async run(invocation) {
    const { args, body, host, operation } = invocation
    if (host.behaviours.enableShardingIsTyped)
      checkFields('enableSharding', body, { enableSharding: 'string', primaryShard: 'string' }, 'ignored')
    else checkUntyped(invocation)
    const db = args.targetString()
    checkDatabaseName(db)
    if (host.behaviours.enablingTwiceFails && (await host.catalog.database(db, operation))?.partitioned === true)
      throw new CommandError(noCode, 'already enabled')
    await host.catalog.enableSharding(db, args.string('primaryShard') ?? null, operation)
    return new DocumentWriter(192)
  },
}

/**
 * Server: parseNs, BSONElement::String.
 * @throws CommandError 73 InvalidNamespace, 13111
 */
function checkUntyped({ args, body }: MongosInvocation): void {
  if (args.target.type !== BsonType.string) throw new CommandError('InvalidNamespace', 'invalid db name specified: ')
  const primaryShard = findField(body, 'primaryShard')
  if (primaryShard !== undefined && primaryShard.type !== BsonType.string)
    throw new CommandError(13111, `wrong type for field (primaryShard) ${typeName(primaryShard.type)} != string`)
}
