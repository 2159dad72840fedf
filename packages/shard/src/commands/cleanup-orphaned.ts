import { checkCollectionName, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, isEmptyDocument, noCode } from '@shardlab/bson'
import { maxTimeExpired, onCluster } from '@shardlab/member'
import { refuseView, type NodeInvocation } from '@shardlab/node'
import { formatDocument, formatField } from '@shardlab/query'
import { shardOf } from '../host/shard-of.js'

/** Server: cleanup_orphaned_cmd.cpp. */
export const cleanupOrphaned: CommandRow<NodeInvocation> = {
  name: 'cleanupOrphaned',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('cleanupOrphaned'),
  adminOnly: true,
  manual: 'reference/command/cleanupOrphaned',
  status: 'full',
  summary: 'Waits until this shard has deleted all orphaned documents of a collection.',
  async run({ args, host, operation }) {
    const { node, placements, rangeDeleter } = shardOf(host)
    const { target } = args
    if (target.type !== BsonType.string)
      throw new CommandError(
        noCode,
        `wrong type for 'cleanupOrphaned' field, expected string, found ${formatField('cleanupOrphaned', target)}`,
      )
    const ns = target.asString()
    const dot = ns.indexOf('.')
    if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace: ${ns}`)
    checkCollectionName(ns.slice(0, dot), ns.slice(dot + 1))
    const startingFrom = args.value('startingFromKey')
    if (startingFrom !== undefined && startingFrom.type !== BsonType.object) {
      const found = formatField('startingFromKey', startingFrom)
      throw new CommandError(noCode, `wrong type for 'startingFromKey' field, expected object, found ${found}`)
    }
    const placement = await placements.refreshCollection(ns)
    const collection = node.collection(ns)
    if (collection === undefined) refuseView(node, ns)
    const writer = new DocumentWriter(64)
    if (collection === undefined || placement === null) return writer
    const key = startingFrom?.slice()
    if (key !== undefined && !isEmptyDocument(key) && placement.shardKey.keyStringOfBound(key) === undefined) {
      throw new CommandError(
        'OrphanedRangeCleanUpFailed',
        `Could not cleanup orphaned data because start key ${formatDocument(key)} does not match shard key pattern ${formatDocument(placement.shardKey.document)}`,
      )
    }
    const clean = rangeDeleter.waitForClean(collection.uuid, null, operation.timeLimit?.leftMs ?? null)
    if (!(await operation.interruptible(clean))) throw maxTimeExpired()
    return writer
  },
}
