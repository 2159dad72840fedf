import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onCluster } from '@shardlab/member'

export const flushRouterConfig: CommandRow<MongosInvocation> = {
  name: 'flushRouterConfig',
  aliases: ['flushrouterconfig'],
  routing: 'local',
  access: 'admin',
  privileges: onCluster('flushRouterConfig'),
  adminOnly: true,
  manual: 'reference/command/flushRouterConfig',
  status: 'full',
  summary: 'Drops the cached placement of a collection, of a database, or of all.',
  run({ args, host }) {
    const { target } = args
    if (!host.behaviours.flushRouterConfigAcceptsScope || target.isNumber() || target.type === BsonType.bool)
      host.catalog.forgetAll()
    else if (target.type !== BsonType.string)
      throw new CommandError(13111, `wrong type for field (${args.command}) ${typeName(target.type)} != string`)
    else if (target.asString().includes('.')) host.catalog.forgetCollection(target.asString())
    else host.catalog.forgetDatabase(target.asString())
    return new DocumentWriter(192).bool('flushed', true)
  },
}
