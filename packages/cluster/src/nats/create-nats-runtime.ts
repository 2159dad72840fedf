import type { Runtime, RuntimeHooks } from '@shardlab/runtime'
import { connectNats } from '@shardlab/nats'
import { createNatsRuntime, NatsBroker } from '@shardlab/runtime/nats'
import { checkExposure } from '../exposure.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { version } from '../version.js'
import type { ClusterMachines } from './nats-options.js'
import { placeMembers } from './place-members.js'

/**
 * Members run on machines that NATS connects.
 * @throws OptionError the server cannot be reached, or cannot be used
 */
export async function createRuntimeOnNats(
  id: string,
  nats: ClusterMachines,
  options: ResolvedOptions,
  hooks: RuntimeHooks,
): Promise<Runtime> {
  const { machines, ...server } = nats
  const link = await connectNats({ ...server, goneMs: null }, `shardlab cluster ${id}`)
  return createNatsRuntime({
    ...hooks,
    broker: new NatsBroker(link.connection, () => link.close()),
    cluster: id,
    machines,
    placement: placeMembers(nats),
    checkHost: (host) => checkExposure(host, options),
    version,
    seed: options.seed,
  })
}
