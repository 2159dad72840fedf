import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'

export const getShardVersion: CommandRow<MongosInvocation> = {
  name: 'getShardVersion',
  aliases: ['getshardversion'],
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getShardVersion',
  status: 'partial',
  missing: 'fullMetadata',
  summary: 'Tells the version of a sharded collection as this router knows it.',
  async run({ args, host, operation }) {
    const ns = args.target.type === BsonType.string ? args.target.asString() : ''
    if (!ns.includes('.')) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
    const placement = host.catalog.peekCollection(ns) ?? (await host.catalog.collection(ns, operation))
    if (placement === null) throw new CommandError('NamespaceNotSharded', `Collection ${ns} is not sharded.`)
    const [epoch, seconds, increment, major, minor] = placement.table.version
    const writer = new DocumentWriter(256).timestamp('version', major, minor).objectId('versionEpoch', Buffer.from(epoch, 'hex'))
    return host.behaviours.chunksAreKeyedByUuid ? writer.timestamp('versionTimestamp', seconds, increment) : writer
  },
}
