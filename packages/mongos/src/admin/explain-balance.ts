import { balancerAddress } from '@shardlab/actor'
import { CommandError, DocumentWriter, encode, type Document } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

/**
 * `{ shardlab: 'explainBalance', ns }`: `explanation` is the balancer's own.
 * @throws CommandError 2 BadValue without a namespace; 118 NamespaceNotSharded
 */
export async function explainBalance({ args, host, operation }: MongosInvocation): Promise<DocumentWriter> {
  const ns = args.string('ns')
  if (ns === undefined)
    throw new CommandError(
      'BadValue',
      "shardlab explainBalance needs a namespace, for example { shardlab: 'explainBalance', ns: 'shop.orders' }.",
    )
  const { explanation, error } = await host.remote.request(balancerAddress, 'balancer.explain', { ns }, operation)
  raise(error)
  const document = encode(JSON.parse(explanation) as Document)
  return new DocumentWriter(document.length + 168).document('explanation', document)
}

/** `{ shardlab: 'runRound' }`: `round` is the event `balancer-round`. */
export async function runRound({ host, operation }: MongosInvocation): Promise<DocumentWriter> {
  const { report } = await host.remote.request(balancerAddress, 'balancer.run-round', {}, operation)
  const document = encode(JSON.parse(report) as Document)
  return new DocumentWriter(document.length + 168).document('round', document)
}
