import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, emptyDocument } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { checkShape, planCacheClearSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const planCacheClear: CommandRow<NodeInvocation> = {
  ...planCacheClearSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D302'],
  summary: 'Checks its arguments; no plan is cached (D302).',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    // The server looks at the shape only when the collection exists.
    if (host.collection(ns) !== undefined && checkShape(args))
      compileFilter(args.document('query') ?? emptyDocument, host.evaluation())
    return new DocumentWriter(256)
  },
}
