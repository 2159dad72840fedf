import { configAddress } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

/** @throws CommandError of the config server or of the request to it */
export async function setBalancerMode(
  { host, operation }: MongosInvocation,
  mode: 'full' | 'off',
): Promise<DocumentWriter> {
  raise((await host.remote.request(configAddress, 'config.set-balancer-mode', { mode }, operation)).error)
  return new DocumentWriter(192)
}
