import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { checkShape, planCacheClearSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { shapeArgument } from '../read/shape-argument.js'

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
    const collection = host.collection(ns)
    // The server looks at the shape only when the collection exists.
    if (collection !== undefined && checkShape(args)) shapeArgument(host, args, collection)
    return new DocumentWriter(256)
  },
}
