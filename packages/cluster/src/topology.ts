import { balancerAddress, configAddress, mongosAddress, shardAddress, type Address } from '@shardlab/actor'
import { behavioursOf } from '@shardlab/sharding'
import type { BalancerOptions } from '@shardlab/balancer'
import type { ConfigServerOptions } from '@shardlab/config-server'
import type { MongosOptions } from '@shardlab/mongos'
import type { MemberSpec } from '@shardlab/runtime'
import type { ShardOptions } from '@shardlab/shard'
import type { ResolvedOptions } from './options.js'

/** Today's drivers refuse servers below this; older profiles announce it unless told to be native. */
const oldestWireVersionOfDrivers = 9

/** Who is in the cluster and how each member is started. */
export interface Topology {
  /** Shards and config server: what the catalog is about. */
  readonly storage: readonly MemberSpec[]
  /** Mongoses and balancer: what works with the catalog. */
  readonly others: readonly MemberSpec[]
  readonly shards: readonly Address[]
  readonly mongos: readonly Address[]
}

export function describeTopology(options: ResolvedOptions): Topology {
  const shards = Array.from({ length: options.shards }, (_, i) => shardAddress(i))
  const mongos = Array.from({ length: options.mongos }, (_, i) => mongosAddress(i))
  const native = behavioursOf(options.emulate).nativeWireVersion
  const maxWireVersion = options.nativeWire ? native : Math.max(native, oldestWireVersionOfDrivers)
  const anyPort = { host: options.host, port: 0 }
  const storageNode: ShardOptions & ConfigServerOptions = { emulate: options.emulate, maxWireVersion, strict: options.strict }
  const router: MongosOptions = {
    emulate: options.emulate,
    nativeWire: options.nativeWire,
    strict: options.strict,
    findReplicaSetHostTimeoutMs: options.findReplicaSetHostTimeoutMs,
  }
  const balancer: BalancerOptions = { roundIntervalMs: options.balancerRoundIntervalMs }
  return {
    shards,
    mongos,
    storage: [
      { address: configAddress, role: 'config-server', options: storageNode, listen: anyPort, diskLimitBytes: options.diskSizeBytes },
      ...shards.map((address) => ({
        address,
        role: 'shard',
        options: storageNode,
        listen: anyPort,
        diskLimitBytes: options.diskSizeBytes,
      })),
    ],
    others: [
      ...mongos.map((address, i) => ({
        address,
        role: 'mongos',
        options: router,
        listen: { host: options.host, port: options.port === 0 ? 0 : options.port + i },
        diskLimitBytes: 0,
      })),
      { address: balancerAddress, role: 'balancer', options: balancer, listen: null, diskLimitBytes: 0 },
    ],
  }
}
