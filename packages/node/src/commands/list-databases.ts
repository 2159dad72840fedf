import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, emptyDocument } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { listDatabasesSpec, shownDatabases } from '@shardlab/member'
import { sizesOf } from '../statistics/collection-sizes.js'
import { collectionsAndOplog } from '../log/oplog-collection.js'
import type { NodeInvocation } from '../host/node-host.js'

export const listDatabases: CommandRow<NodeInvocation> = {
  ...listDatabasesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D701'],
  summary: 'Lists the databases with their sizes.',
  run(invocation) {
    const { host, args, routed } = invocation
    const isShown = shownDatabases(invocation)
    const filter = compileFilter(args.document('filter') ?? emptyDocument, host.evaluation())
    const nameOnly = args.bool('nameOnly') ?? false
    const writer = new DocumentWriter(512).startArray('databases')
    let total = 0
    let count = 0
    const names = new Set(host.engine.databases())
    // Each member has its own, so routers do not list it.
    if (routed === null) names.add('local')
    for (const name of [...names].sort().filter(isShown)) {
      const collections = collectionsAndOplog(host, name)
      const size = collections.reduce((sum, collection) => sum + sizesOf(host, collection).dataSizeBytes, 0)
      const entry = new DocumentWriter(128).string('name', name)
      if (!nameOnly) entry.int64('sizeOnDisk', size).bool('empty', size === 0)
      const document = entry.finish()
      if (!filter.matches(document)) continue
      total += size
      writer.document(String(count++), document)
    }
    writer.end()
    return nameOnly ? writer : writer.int64('totalSize', total).int64('totalSizeMb', Math.floor(total / 1024 / 1024))
  },
}
