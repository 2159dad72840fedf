import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, isEmptyDocument } from '@shardlab/bson'
import { planCacheListFiltersSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: index_filter_commands.cpp. */
export const planCacheListFilters: CommandRow<NodeInvocation> = {
  ...planCacheListFiltersSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Lists the index filters of a collection.',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    const writer = new DocumentWriter(512).startArray('filters')
    const filters = host.collection(ns)?.indexFilters.all() ?? []
    filters.forEach(({ query, sort, projection, collation, indexes }, i) => {
      writer.startDocument(String(i)).document('query', query).document('sort', sort).document('projection', projection)
      if (!isEmptyDocument(collation)) writer.document('collation', collation)
      writer.startArray('indexes')
      indexes.forEach((index, j) => {
        if (typeof index === 'string') writer.string(String(j), index)
        else writer.document(String(j), index)
      })
      writer.end().end()
    })
    return writer.end()
  },
}
