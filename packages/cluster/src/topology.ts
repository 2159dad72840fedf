import { balancerAddress, configAddress, mongosAddress, shardAddress, type Address } from '@shardlab/actor'
import { behavioursOf } from '@shardlab/sharding'
import type { BalancerOptions } from '@shardlab/balancer'
import type { ConfigServerOptions } from '@shardlab/config-server'
import type { MongosOptions } from '@shardlab/mongos'
import type { MongodOptions } from '@shardlab/node'
import type { MemberSpec } from '@shardlab/runtime'
import type { ShardOptions } from '@shardlab/shard'
import type { ResolvedOptions } from './resolved-options.js'

export interface Topology {
  /** Shards, members that are no shards yet, and config server; or the members of a replica set. */
  readonly storage: readonly MemberSpec[]
  /** Mongoses and balancer, which read the catalog. */
  readonly others: readonly MemberSpec[]
  readonly shards: readonly Address[]
  readonly mongos: readonly Address[]
}

function maxWireVersionOf({ emulate, nativeWire }: ResolvedOptions): number {
  const { announcedWireVersion, nativeWireVersion } = behavioursOf(emulate)
  return nativeWire ? nativeWireVersion : announcedWireVersion
}

/** Of one shard or of the config server: one spec for each member of its set. */
function membersOf(spec: MemberSpec, members: number): MemberSpec[] {
  if (members === 1) return [spec]
  const { address: name, options } = spec
  return Array.from({ length: members }, (_, i) => ({
    ...spec,
    address: `${name}-${i + 1}`,
    set: name,
    options: { ...(options as object), set: { name } },
  }))
}

export function shardSpec(options: ResolvedOptions, address: Address): MemberSpec {
  const shard: ShardOptions = {
    emulate: options.emulate,
    maxWireVersion: maxWireVersionOf(options),
    strict: options.strict,
    ...(options.autoSplit === null ? {} : { autoSplit: options.autoSplit }),
    findReplicaSetHostTimeoutMs: options.findReplicaSetHostTimeoutMs,
  }
  return {
    address,
    role: 'shard',
    options: shard,
    listen: { host: options.host, port: 0 },
    diskLimitBytes: options.diskSizeBytes,
  }
}

export function listenOfCopy(
  { address, role, listen }: MemberSpec,
  { host, port, mongos }: ResolvedOptions,
): MemberSpec['listen'] {
  if (listen === null) return null
  const number = role === 'mongos' ? Array.from({ length: mongos }, (_, i) => mongosAddress(i)).indexOf(address) : -1
  return { host, port: port === 0 || number < 0 ? 0 : port + number }
}

function replicaSet(options: ResolvedOptions): Topology {
  const { setName: name, members, host, port, emulate, strict, diskSizeBytes } = options
  const mongod: MongodOptions = { emulate, maxWireVersion: maxWireVersionOf(options), strict, set: { name } }
  return {
    storage: Array.from({ length: members }, (_, i) => ({
      address: `${name}-${i + 1}`,
      set: name,
      role: 'mongod',
      options: mongod,
      listen: { host, port: port === 0 ? 0 : port + i },
      diskLimitBytes: diskSizeBytes,
    })),
    others: [],
    shards: [],
    mongos: [],
  }
}

export function describeTopology(options: ResolvedOptions): Topology {
  if (options.topology === 'replica-set') return replicaSet(options)
  const shards = Array.from({ length: options.shards }, (_, i) => shardAddress(i))
  const mongos = Array.from({ length: options.mongos }, (_, i) => mongosAddress(i))
  const maxWireVersion = maxWireVersionOf(options)
  const anyPort = { host: options.host, port: 0 }
  const { emulate, nativeWire, strict, findReplicaSetHostTimeoutMs } = options
  const storageNode: ConfigServerOptions = { emulate, maxWireVersion, strict, findReplicaSetHostTimeoutMs }
  const router: MongosOptions = { emulate, nativeWire, strict, findReplicaSetHostTimeoutMs }
  const balancer: BalancerOptions = { roundIntervalMs: options.balancerRoundIntervalMs, emulate }
  return {
    shards,
    mongos,
    storage: [
      ...membersOf(
        {
          address: configAddress,
          role: 'config-server',
          options: storageNode,
          listen: anyPort,
          diskLimitBytes: options.diskSizeBytes,
        },
        options.members,
      ),
      ...[...shards, ...options.standby].flatMap((address) => membersOf(shardSpec(options, address), options.members)),
    ],
    others: [
      ...mongos.map((address, i) => ({
        address,
        role: 'mongos',
        options: router,
        listen: { host: options.host, port: options.port === 0 ? 0 : options.port + i },
        diskLimitBytes: 0,
      })),
      {
        address: balancerAddress,
        role: options.members === 1 ? 'balancer' : 'balancer-of-sets',
        options: balancer,
        listen: null,
        diskLimitBytes: 0,
      },
    ],
  }
}
