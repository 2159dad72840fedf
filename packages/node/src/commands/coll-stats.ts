import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import { collStatsSpec } from '@shardlab/member'
import { scaleOf, writeStorageStats } from '../statistics/storage-stats.js'
import type { NodeInvocation } from '../host/node-host.js'

export const collStats: CommandRow<NodeInvocation> = {
  ...collStatsSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D701'],
  summary: 'Reports the sizes of a collection and its indexes.',
  async run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    const scale = scaleOf(args.value('scale'))
    const collection = host.readable(ns)
    if (collection === undefined && !host.behaviours.missingCollectionsHaveStatistics)
      throw new CommandError(
        noCode,
        host.engine.collections(db).length === 0 ? `Database [${db}] not found.` : `Collection [${ns}] not found.`,
      )
    return writeStorageStats(new DocumentWriter(1024).string('ns', ns), collection, host, scale)
  },
}
