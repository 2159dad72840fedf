import { balancerAddress, configAddress, type Address } from '@shardlab/actor'
import type { BalancerOptions } from '@shardlab/balancer'
import type { MongosOptions } from '@shardlab/mongos'
import type { MemberSpec } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import { resolveOptions } from '../resolve-options.js'
import type { ResolvedOptions } from '../resolved-options.js'
import {
  clientsOf,
  memberSpec,
  mongodSpec,
  startOptionsOf,
  specOfConfigServer,
  shardSpec,
  standaloneAddress,
} from '../topology.js'
import type { EmulatedServerOptions } from './server-options.js'

/** @throws OptionError */
export function resolvedOf({
  role,
  setName,
  host,
  port,
  emulate,
  nativeWire,
  ...given
}: EmulatedServerOptions): ResolvedOptions {
  if ((role === 'shard' || role === 'config-server') && setName === null)
    throw new OptionError(`the role ${role} needs setName.`)
  const { periodicNoopIntervalSecs: seconds } = given
  // As mongod does, which warns in its log.
  const ofServer = { host, port, insecure: true, serverTimings: true, runtime: 'inline' } as const
  return resolveOptions({
    ...ofServer,
    ...(setName === null || role === 'config-server'
      ? { topology: 'standalone' }
      : { topology: 'replica-set', members: [{}], setName, initiate: false }),
    ...(emulate === undefined ? {} : { emulate }),
    ...(nativeWire === undefined ? {} : { nativeWire }),
    ...(seconds === undefined ? {} : { periodicNoopIntervalSecs: seconds }),
    ...(given.tls === undefined ? {} : { tls: given.tls }),
    ...(given.auth === undefined ? {} : { auth: given.auth }),
    ...(given.limits === undefined ? {} : { limits: given.limits }),
    ...(given.setParameter === undefined ? {} : { setParameter: given.setParameter }),
  })
}

/** Of a member of a set. */
function ofSet(spec: MemberSpec, setName: string): MemberSpec {
  return { ...spec, options: { ...(spec.options as object), set: { name: setName, keepsHosts: true } } }
}

/**
 * The name has the port, as it must be unique among all processes of a cluster.
 * @param port not 0
 */
export function specOfServer(options: EmulatedServerOptions, resolved: ResolvedOptions, port: number): MemberSpec {
  const { role, setName, host, furtherHosts = [] } = options
  const listen = { host, port, furtherHosts, ...clientsOf(resolved) }
  switch (role) {
    case 'mongod':
      if (setName === null) return { ...mongodSpec(resolved, standaloneAddress), listen }
      return {
        ...ofSet(memberSpec(mongodSpec({ ...resolved, topology: 'replica-set' }, setName), port), setName),
        listen,
      }
    case 'shard':
      return { ...ofSet(memberSpec(shardSpec(resolved, setName!), port), setName!), listen }
    case 'config-server':
      // Members send messages to the config server by its address, whatever the name of its set.
      return { ...ofSet(memberSpec(specOfConfigServer(resolved), port), setName!), listen }
    case 'mongos':
      return { ...mongosSpec(options, resolved, port), listen }
  }
}

function mongosSpec({ configDb }: EmulatedServerOptions, resolved: ResolvedOptions, port: number): MemberSpec {
  const { auth: hasAccessControl, emulate, nativeWire, strict, findReplicaSetHostTimeoutMs } = resolved
  const options: MongosOptions = {
    emulate,
    nativeWire,
    hasAccessControl,
    strict,
    findReplicaSetHostTimeoutMs,
    configHost: textOf(configDb!),
    ...startOptionsOf(resolved),
  }
  return { address: `mongos${port}`, role: 'mongos', options, listen: null, diskLimitBytes: 0 }
}

const textOf = ({ setName, hosts }: NonNullable<EmulatedServerOptions['configDb']>): string =>
  `${setName}/${hosts.join(',')}`

export function balancerSpec({ emulate, balancerRoundIntervalMs }: ResolvedOptions): MemberSpec {
  const options: BalancerOptions = { roundIntervalMs: balancerRoundIntervalMs, emulate }
  return { address: balancerAddress, role: 'balancer-of-sets', options, listen: null, diskLimitBytes: 0 }
}

/** Of the process's collections that are not replicated; only the process reaches it. */
export function localSpec(resolved: ResolvedOptions, port: number): MemberSpec {
  return { ...mongodSpec({ ...resolved, topology: 'standalone' }, localAddress(port)), listen: null }
}

export function localAddress(port: number): Address {
  return `local-${port}`
}

/** In the directory of the cluster; null: the server is in no set. */
export function setOfServer({ role, setName }: EmulatedServerOptions): Address | null {
  return role === 'config-server' ? configAddress : setName
}
