import { clusterAddress } from '@shardlab/actor'
import type { Runtime, RuntimeHooks } from '@shardlab/runtime'
import { createNatsRuntime } from '@shardlab/runtime/nats'
import { checkExposure } from '../exposure.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { describeTopology } from '../topology.js'
import { version } from '../version.js'
import type { ClusterMachines } from './nats-options.js'
import { openBroker, refusing } from './open-broker.js'
import { checkPlaces, placeMembers } from './place-members.js'

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
  const { storage, others } = describeTopology(options)
  checkPlaces(
    nats,
    [...storage, ...others].flatMap(({ address, set }) => (set === undefined ? [address] : [address, set])),
  )
  const { machines, place: _place, ...server } = nats
  const log = (level: 'warn' | 'error', message: string): void =>
    runtime.emit({ type: 'log', atMs: runtime.now(), member: clusterAddress, level, message, fields: {} })
  const opened = await openBroker(server, `shardlab cluster ${id}`, (error) =>
    log('warn', `a message of NATS was lost: ${String(error)}`),
  )
  const runtime = await refusing(opened, () =>
    createNatsRuntime({
      ...hooks,
      broker: opened.broker,
      cluster: id,
      machines,
      placement: placeMembers(nats),
      checkHost: (host) => checkExposure(host, options),
      version,
      seed: options.seed,
    }),
  )
  opened.onGone(({ message }) => log('error', message))
  return runtime
}
