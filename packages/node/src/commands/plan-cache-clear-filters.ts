import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { checkShape, planCacheClearFiltersSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: index_filter_commands.cpp. */
export const planCacheClearFilters: CommandRow<NodeInvocation> = {
  ...planCacheClearFiltersSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Checks its arguments; there are no index filters.',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    if (host.collection(ns) !== undefined) checkShape(args)
    return new DocumentWriter(256)
  },
}
