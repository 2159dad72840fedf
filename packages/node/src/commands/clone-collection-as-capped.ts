import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { cloneCollectionAsCappedSpec } from '@shardlab/member'
import { cappedSizeOf, copyAsCapped, sourceOfCopy } from '../ddl/capped-copy.js'
import type { NodeInvocation } from '../host/node-host.js'

export const cloneCollectionAsCapped: CommandRow<NodeInvocation> = {
  ...cloneCollectionAsCappedSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D850'],
  summary: 'Copies the newest documents of a collection into a new capped one.',
  async run(invocation) {
    invocation.host.requireRoom()
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const target = `${db}.${args.string('toCollection')!}`
    await host.role.enter(ns, invocation)
    const source = sourceOfCopy(invocation, ns)
    const size = cappedSizeOf(invocation)
    if (host.collection(target) !== undefined)
      throw new CommandError(
        'NamespaceExists',
        `cloneCollectionAsCapped failed - destination collection ${target} already exists.`,
      )
    copyAsCapped(host, source, target, size, args.bool('temp') === true)
    await host.flush()
    return new DocumentWriter(128)
  },
}
