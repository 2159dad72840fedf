import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { convertToCappedSpec } from '@shardlab/member'
import { cappedSizeOf, copyAsCapped, sourceOfCopy } from '../ddl/capped-copy.js'
import { renameLocalCollection } from '../ddl/rename.js'
import type { NodeInvocation } from '../host/node-host.js'

export const convertToCapped: CommandRow<NodeInvocation> = {
  ...convertToCappedSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D850'],
  summary: 'Converts a collection to a capped one with its newest documents and only the _id index.',
  async run(invocation) {
    invocation.host.requireRoom()
    const { host, args, db } = invocation
    const name = args.collectionName(db)
    const ns = `${db}.${name}`
    await host.role.enter(ns, invocation)
    const source = sourceOfCopy(invocation, ns)
    const size = cappedSizeOf(invocation)
    const suffix = host.context.random.fork('convert-to-capped').fraction().toString(36).slice(2, 7).padEnd(5, '0')
    const copy = copyAsCapped(host, source, `${db}.tmp${suffix}.convertToCapped.${name}`, size, true)
    renameLocalCollection(host, copy, ns)
    await host.flush()
    return new DocumentWriter(128)
  },
}
