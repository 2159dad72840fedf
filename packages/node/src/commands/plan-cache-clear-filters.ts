import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { checkShape, planCacheClearFiltersSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { shapeArgument } from '../read/shape-argument.js'

/** Server: index_filter_commands.cpp. */
export const planCacheClearFilters: CommandRow<NodeInvocation> = {
  ...planCacheClearFiltersSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Removes the index filter of a query shape, or all of the collection.',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    const collection = host.collection(ns)
    if (collection === undefined) return new DocumentWriter(256)
    if (checkShape(args)) {
      const { shape, strings } = shapeArgument(host, args, collection)
      collection.indexFilters.remove(shape, strings)
    } else collection.indexFilters.clear()
    return new DocumentWriter(256)
  },
}
