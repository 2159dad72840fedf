import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { writeFirstBatch } from '../cursors/cursor-reply.js'
import type { NodeInvocation } from '../invocation.js'
import { batchSizeOf } from '../crud/read-arguments.js'
import { listSource } from '../crud/list-source.js'

export const listIndexes: CommandRow<NodeInvocation> = {
  name: 'listIndexes',
  routing: 'primary-shard',
  access: 'read',
  manual: 'reference/command/listIndexes',
  status: 'full',
  summary: 'Lists the indexes of a collection.',
  fields: { cursor: 'object', includeBuildUUIDs: 'bool', includeIndexBuildInfo: 'bool' },
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    if (entered instanceof Promise) await entered
    const collection = host.collection(ns)
    if (collection === undefined) throw new CommandError('NamespaceNotFound', `ns does not exist: ${ns}`)
    const batchSize = batchSizeOf(args.document('cursor')) ?? Number.POSITIVE_INFINITY
    return writeFirstBatch(invocation, ns, listSource(collection.indexes().map((index) => index.spec)), {
      batchSize,
      singleBatch: false,
      laterBatchSize: 0,
      noTimeout: false,
    })
  },
}
