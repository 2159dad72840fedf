import { balancerAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { qualifiedNamespace } from '../chunks/sharded-collection.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onNamedNamespace } from '@shardlab/member'

const bytesPerMegabyte = 1024 * 1024

/** Server: cluster_balancer_collection_status_cmd.cpp, Balancer::getBalancerStatusForNs. */
export const balancerCollectionStatus: CommandRow<MongosInvocation> = {
  name: 'balancerCollectionStatus',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('enableSharding'),
  adminOnly: true,
  behaviour: 'balancerCollectionStatusExists',
  manual: 'reference/command/balancerCollectionStatus',
  status: 'full',
  summary: 'Shows whether the chunks of a collection are balanced, and otherwise the first reason why not.',
  fields: {},
  async run({ args, host, operation }) {
    args.targetString()
    const ns = qualifiedNamespace(args)
    const { chunkSizeBytes, violation, details, error } = await host.remote.request(
      balancerAddress,
      'balancer.collection-status',
      { ns },
      operation,
    )
    raise(error)
    const writer = new DocumentWriter(256)
    const { balancerCollectionStatusHasChunkSize, balancerCollectionStatusHasFractions } = host.behaviours
    const megabytes = chunkSizeBytes / bytesPerMegabyte
    if (balancerCollectionStatusHasFractions) writer.double('chunkSize', Math.ceil(megabytes * 100) / 100)
    else if (balancerCollectionStatusHasChunkSize) writer.int64('chunkSize', Math.floor(megabytes))
    writer.bool('balancerCompliant', violation === null)
    if (violation !== null) writer.string('firstComplianceViolation', violation)
    return details === null ? writer : writer.document('details', details)
  },
}
