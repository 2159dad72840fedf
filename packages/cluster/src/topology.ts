import { balancerAddress, configAddress, mongosAddress, shardAddress, type Address } from '@shardlab/actor'
import { behavioursOf } from '@shardlab/sharding'
import type { BalancerOptions } from '@shardlab/balancer'
import type { ConfigServerOptions } from '@shardlab/config-server'
import type { StartOptions } from '@shardlab/member'
import type { MongosOptions } from '@shardlab/mongos'
import type { MongodOptions } from '@shardlab/node'
import type { Listen, MemberSpec } from '@shardlab/runtime'
import type { ShardOptions } from '@shardlab/shard'
import type { ResolvedOptions } from './resolved-options.js'
import { hasSets, membersOf, type ResolvedMembers } from './sets/resolve-sets.js'

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

function oplogOf({
  oplogSizeBytes,
  periodicNoopIntervalSecs,
}: ResolvedOptions): Pick<MongodOptions, 'oplogSizeBytes' | 'periodicNoopIntervalSecs'> {
  return {
    ...(oplogSizeBytes === null ? {} : { oplogSizeBytes }),
    ...(periodicNoopIntervalSecs === null ? {} : { periodicNoopIntervalSecs }),
  }
}

export function startOptionsOf({ clientLimits, setParameter }: ResolvedOptions): {
  readonly startOptions?: StartOptions
} {
  const startOptions = {
    ...(clientLimits.cursorsMax === null ? {} : { cursorsMax: clientLimits.cursorsMax }),
    ...(Object.keys(setParameter).length === 0 ? {} : { setParameter }),
  }
  return Object.keys(startOptions).length === 0 ? {} : { startOptions }
}

/** Of one shard or of the config server: one spec for each member of its set. */
export function specsOfSet(spec: MemberSpec, members: ResolvedMembers): MemberSpec[] {
  return members === null ? [spec] : members.map((_, i) => memberSpec(spec, i + 1))
}

/** @param spec of a member with the name of the set */
export function memberSpec(spec: MemberSpec, number: number): MemberSpec {
  const { address: set, options } = spec
  return { ...spec, address: `${set}-${number}`, set, options: { ...(options as object), set: { name: set } } }
}

export function shardSpec(options: ResolvedOptions, address: Address): MemberSpec {
  const shard: ShardOptions = {
    emulate: options.emulate,
    maxWireVersion: maxWireVersionOf(options),
    strict: options.strict,
    hasAccessControl: options.auth,
    ...(options.autoSplit === null ? {} : { autoSplit: options.autoSplit }),
    findReplicaSetHostTimeoutMs: options.findReplicaSetHostTimeoutMs,
    ...oplogOf(options),
    ...startOptionsOf(options),
  }
  return {
    address,
    role: 'shard',
    options: shard,
    listen: listenOf(options),
    diskLimitBytes: options.diskSizeBytes,
  }
}

export function specOfConfigServer(options: ResolvedOptions): MemberSpec {
  const { auth: hasAccessControl, emulate, strict, findReplicaSetHostTimeoutMs } = options
  const server: ConfigServerOptions = {
    hasAccessControl,
    ...{ emulate, strict, findReplicaSetHostTimeoutMs, maxWireVersion: maxWireVersionOf(options) },
    ...oplogOf(options),
    ...startOptionsOf(options),
  }
  return {
    address: configAddress,
    role: 'config-server',
    options: server,
    listen: listenOf(options),
    diskLimitBytes: options.diskSizeBytes,
  }
}

/** Of a member with the name of the set. */
export function specOf(options: ResolvedOptions, set: Address): MemberSpec {
  if (options.topology === 'replica-set') return mongodSpec(options, set)
  return set === configAddress ? specOfConfigServer(options) : shardSpec(options, set)
}

/** @param number of the member among those with consecutive ports; null: any free port */
function listenOf(options: ResolvedOptions, number: number | null = null): Listen {
  const { host, announcedHost, port } = options
  const announced = announcedHost === host ? {} : { announcedHost }
  return { host, ...announced, port: port === 0 || number === null ? 0 : port + number, ...clientsOf(options) }
}

/** How all members serve clients. */
export function clientsOf({ tls, clientLimits: { port } }: ResolvedOptions): Pick<Listen, 'tls' | 'limits'> {
  return { ...(tls === null ? {} : { tls }), ...(Object.keys(port).length === 0 ? {} : { limits: port }) }
}

export function listenOfCopy({ address, listen }: MemberSpec, options: ResolvedOptions): MemberSpec['listen'] {
  if (listen === null) return null
  const { topology } = options
  const { storage, mongos } = describeTopology(options)
  const number = (topology === 'sharded' ? mongos : storage.map((spec) => spec.address)).indexOf(address)
  return listenOf(options, number < 0 ? null : number)
}

export function mongodSpec(options: ResolvedOptions, address: Address): MemberSpec {
  const { auth: hasAccessControl, emulate, strict, diskSizeBytes } = options
  const isStandalone = options.topology === 'standalone'
  const mongod: MongodOptions = {
    hasAccessControl,
    ...{ emulate, maxWireVersion: maxWireVersionOf(options), strict, set: null, isStandalone },
    ...oplogOf(options),
    ...startOptionsOf(options),
  }
  return { address, role: 'mongod', options: mongod, listen: listenOf(options), diskLimitBytes: diskSizeBytes }
}

/** A replica set, or a standalone mongod. */
function unsharded(options: ResolvedOptions): Topology {
  const { setName, members } = options
  const specs =
    options.topology === 'standalone'
      ? [mongodSpec(options, standaloneAddress)]
      : specsOfSet(mongodSpec(options, setName), members)
  return {
    storage: specs.map((spec, i) => ({ ...spec, listen: listenOf(options, i) })),
    others: [],
    shards: [],
    mongos: [],
  }
}

/** Of the only member of the topology `standalone`. */
export const standaloneAddress: Address = 'mongod'

export function describeTopology(options: ResolvedOptions): Topology {
  if (options.topology !== 'sharded') return unsharded(options)
  const shards = Array.from({ length: options.shards }, (_, i) => shardAddress(i))
  const mongos = Array.from({ length: options.mongos }, (_, i) => mongosAddress(i))
  const { auth: hasAccessControl, emulate, nativeWire, strict, findReplicaSetHostTimeoutMs } = options
  const router: MongosOptions = {
    emulate,
    nativeWire,
    hasAccessControl,
    strict,
    findReplicaSetHostTimeoutMs,
    ...startOptionsOf(options),
  }
  const balancer: BalancerOptions = { roundIntervalMs: options.balancerRoundIntervalMs, emulate }
  return {
    shards,
    mongos,
    storage: [
      ...specsOfSet(specOfConfigServer(options), membersOf(options, configAddress)),
      ...[...shards, ...options.standby].flatMap((set) => specsOfSet(shardSpec(options, set), membersOf(options, set))),
    ],
    others: [
      ...mongos.map((address, i) => ({
        address,
        role: 'mongos',
        options: router,
        listen: listenOf(options, i),
        diskLimitBytes: 0,
      })),
      {
        address: balancerAddress,
        role: hasSets(options) ? 'balancer-of-sets' : 'balancer',
        options: balancer,
        listen: null,
        diskLimitBytes: 0,
      },
    ],
  }
}
