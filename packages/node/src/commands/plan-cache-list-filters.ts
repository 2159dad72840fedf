import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { planCacheListFiltersSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: index_filter_commands.cpp. */
export const planCacheListFilters: CommandRow<NodeInvocation> = {
  ...planCacheListFiltersSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D302'],
  summary: 'Lists index filters: none, since planCacheSetFilter does not exist.',
  async run(invocation) {
    const { host, args, db } = invocation
    await host.role.enter(`${db}.${args.collectionName(db)}`, invocation)
    return new DocumentWriter(256).startArray('filters').end()
  },
}
