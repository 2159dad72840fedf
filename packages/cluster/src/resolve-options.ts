import { isReservedAddress, shardAddress } from '@shardlab/actor'
import { suggestion } from '@shardlab/quantities'
import { defaultVersion, emulatedVersions, parseEmulatedVersion } from '@shardlab/sharding'
import { optionsOfCopy } from './copies/copy-options.js'
import { checkExposure } from './exposure.js'
import { OptionError } from './option-error.js'
import { resolveLimits } from './limit-options.js'
import { resolveMachines } from './nats/resolve-machines.js'
import type { ClusterOptions, LiveOnly } from './options.js'
import { resolveParameters } from './parameter-options.js'
import { parseSize } from './quantity-options.js'
import type { ResolvedOptions } from './resolved-options.js'
import { checkRules, isSetName, membersOf, membersOfSet, resolveSetName, resolveSets } from './sets/resolve-sets.js'
import { resolveDbPath } from './durable/db-path.js'
import { resolveTls } from './tls-options.js'
import { topologyNames, type TopologyName } from './topology-name.js'

const liveOnly: Readonly<Record<LiveOnly, true>> = {
  dashboard: true,
  runtime: true,
  nats: true,
  clock: true,
  autoAdvance: true,
  hosts: true,
  port: true,
  host: true,
  insecure: true,
  tls: true,
  from: true,
  dbPath: true,
  topology: true,
  setName: true,
  initiate: true,
}

const known: Record<keyof ClusterOptions, true> = {
  dashboard: true,
  shards: true,
  standby: true,
  mongos: true,
  port: true,
  host: true,
  insecure: true,
  tls: true,
  emulate: true,
  chunkSize: true,
  runtime: true,
  nats: true,
  clock: true,
  autoAdvance: true,
  hosts: true,
  seed: true,
  balancerRoundIntervalMs: true,
  serverTimings: true,
  findReplicaSetHostTimeoutMs: true,
  periodicNoopIntervalSecs: true,
  networkTimeoutMs: true,
  nativeWire: true,
  auth: true,
  limits: true,
  setParameter: true,
  strict: true,
  autoSplit: true,
  oplogSize: true,
  diskSize: true,
  from: true,
  dbPath: true,
  topology: true,
  members: true,
  sets: true,
  setName: true,
  initiate: true,
}

/**
 * Checks options and fills in defaults.
 * @throws OptionError
 */
export function resolveOptions(options: ClusterOptions): ResolvedOptions {
  checkNames('a cluster', options, Object.keys(known))
  const dbPath = resolveDbPath(options)
  const { from } = options
  if (from !== undefined) return optionsOfCopy({ ...options, from }, resolveOptions)
  const topology = options.topology ?? 'sharded'
  if (!topologyNames.includes(topology))
    throw new OptionError(
      `topology is ${JSON.stringify(topology)}; ${suggestion(String(topology), topologyNames) ?? `use ${topologyNames.join(', ')}.`}`,
    )
  const mongos = topology === 'sharded' ? integer('mongos', options.mongos, 1, 1, 100) : 0
  const port = integer('port', options.port, 0, 0, 65_535)
  const emulate = options.emulate ?? defaultVersion
  if (parseEmulatedVersion(emulate) === undefined)
    throw new OptionError(`emulate is ${JSON.stringify(emulate)}; use one of ${emulatedVersions.join(', ')}.`)
  const runtime = options.runtime ?? 'threads'
  if (runtime !== 'threads' && runtime !== 'inline')
    throw new OptionError(`runtime is ${JSON.stringify(runtime)}; use threads or inline.`)
  const nats = resolveMachines(options)
  const clock = options.clock ?? 'real'
  if (clock !== 'real' && clock !== 'manual')
    throw new OptionError(`clock is ${JSON.stringify(clock)}; use real or manual.`)
  if (clock === 'manual' && runtime !== 'inline')
    throw new OptionError("clock: 'manual' needs runtime: 'inline'; set both.")
  if (options.autoAdvance !== undefined && clock !== 'manual')
    throw new OptionError("autoAdvance needs clock: 'manual'; set both, or remove autoAdvance.")
  if (options.hosts !== undefined && runtime !== 'threads')
    throw new OptionError("hosts needs runtime: 'threads'; remove hosts.")
  const host = options.host ?? '127.0.0.1'
  if (typeof host !== 'string' || host === '')
    throw new OptionError('host must be an address to listen on, such as 127.0.0.1.')
  const { auth = false, insecure = false } = options
  checkExposure(host, { auth, insecure })
  const chunkSizeBytes = options.chunkSize === undefined ? 0 : parseSize('chunkSize', options.chunkSize)
  if (options.chunkSize !== undefined && (chunkSizeBytes < 1024 || chunkSizeBytes > 1024 ** 3))
    throw new OptionError(`chunkSize is ${options.chunkSize}; it must be from 1KB to 1GB.`)
  const diskSizeBytes = parseSize('diskSize', options.diskSize ?? '2GB')
  if (diskSizeBytes < 1024 ** 2) throw new OptionError(`diskSize is ${options.diskSize}; it must be at least 1MB.`)
  // A checkpoint is one array of bytes.
  if (dbPath !== null && diskSizeBytes >= 4 * 1024 ** 3)
    throw new OptionError(`diskSize is ${options.diskSize}; with dbPath it must be below 4GB.`)
  const shards = topology === 'sharded' ? integer('shards', options.shards, 3, 0, 1000) : 0
  const oplogSizeBytes = options.oplogSize === undefined ? null : parseSize('oplogSize', options.oplogSize)
  if (oplogSizeBytes !== null && (oplogSizeBytes < 1024 || oplogSizeBytes > diskSizeBytes / 16))
    throw new OptionError(`oplogSize is ${options.oplogSize}; it must be from 1KB to a sixteenth of diskSize.`)
  const standby = standbyNames(options.standby ?? [], shards)
  const sets = setOptions(topology, options, { shards, standby, emulate })
  const listeners = topology === 'sharded' ? mongos : (sets.members?.length ?? 1)
  if (port > 0 && port + listeners - 1 > 65_535)
    throw new OptionError(
      `port ${port} is too high for ${listeners} ${topology === 'sharded' ? 'mongoses' : 'members'}, which take consecutive ports up to 65535: choose a lower port.`,
    )
  return {
    topology,
    ...sets,
    heartbeatIntervalMs: options.serverTimings === true ? 2000 : 250,
    electionTimeoutMs: options.serverTimings === true ? 10_000 : 2000,
    shards,
    standby,
    mongos,
    port,
    host,
    announcedHost: host,
    insecure,
    tls: resolveTls(options.tls),
    emulate,
    chunkSizeBytes,
    runtime,
    nats,
    clock,
    autoAdvance: options.autoAdvance ?? true,
    hosts: options.hosts === undefined ? undefined : integer('hosts', options.hosts, 1, 1, 64),
    seed: integer('seed', options.seed, Math.floor(Math.random() * 2 ** 31), 0, 2 ** 32 - 1),
    balancerRoundIntervalMs: integer(
      'balancerRoundIntervalMs',
      options.balancerRoundIntervalMs,
      options.serverTimings === true ? 10_000 : 1_000,
      1,
      2 ** 31 - 1,
    ),
    findReplicaSetHostTimeoutMs: integer(
      'findReplicaSetHostTimeoutMs',
      options.findReplicaSetHostTimeoutMs,
      15_000,
      0,
      2 ** 31 - 1,
    ),
    periodicNoopIntervalSecs:
      options.periodicNoopIntervalSecs === undefined
        ? null
        : integer('periodicNoopIntervalSecs', options.periodicNoopIntervalSecs, 10, 1, 10),
    networkTimeoutMs: integer('networkTimeoutMs', options.networkTimeoutMs, 10_000, 1, 2 ** 31 - 1),
    nativeWire: options.nativeWire ?? false,
    auth,
    clientLimits: resolveLimits(options.limits),
    setParameter: resolveParameters(options.setParameter),
    strict: options.strict ?? false,
    autoSplit: options.autoSplit ?? null,
    oplogSizeBytes,
    diskSizeBytes,
    dbPath,
  }
}

/**
 * Timings are the server's unless `serverTimings` is false.
 * @throws OptionError
 */
export function resolveSimulatedOptions(options: Omit<ClusterOptions, LiveOnly>): ResolvedOptions {
  const names = Object.keys(known).filter((name) => !Object.hasOwn(liveOnly, name))
  checkNames('a simulated cluster', options, names)
  return resolveOptions({ serverTimings: true, ...options })
}

const shardedOnly = [
  'shards',
  'standby',
  'sets',
  'mongos',
  'chunkSize',
  'autoSplit',
  'balancerRoundIntervalMs',
] as const
function setOptions(
  topology: TopologyName,
  options: ClusterOptions,
  { shards, standby, emulate }: Pick<ResolvedOptions, 'shards' | 'standby' | 'emulate'>,
): Pick<ResolvedOptions, 'members' | 'sets' | 'setName' | 'initiate'> {
  if (topology !== 'replica-set' && options.setName !== undefined)
    throw new OptionError("setName needs topology: 'replica-set'; set both, or remove setName.")
  const { initiate = true } = options
  if (topology === 'sharded') {
    const names = Array.from({ length: shards }, (_, i) => shardAddress(i))
    const sets = resolveSets(options, { shards: names, standby, emulate })
    if (!initiate && !standby.some((name) => membersOf(sets, name) !== null))
      throw new OptionError(
        "initiate: false needs topology: 'replica-set', or standby sets of several members; remove initiate.",
      )
    return { ...sets, setName: '', initiate }
  }
  for (const name of shardedOnly)
    if (options[name] !== undefined)
      throw new OptionError(`${name} is an option of a sharded cluster: remove it, or topology: '${topology}'.`)
  if (topology === 'standalone') {
    for (const name of ['members', 'initiate'] as const)
      if (options[name] !== undefined)
        throw new OptionError(`${name} is an option of replica sets: remove it, or topology: 'standalone'.`)
    return { members: null, sets: {}, setName: '', initiate: true }
  }
  const members = membersOfSet('members', options.members ?? 3)
  checkRules('members', members, false)
  const { setName = 'rs0' } = options
  return { members, sets: {}, setName: resolveSetName(setName), initiate }
}

const standbyMax = 1000
/** Ends of links in faults. */
const linkEndNames: ReadonlySet<string> = new Set(['clients', 'shards', 'routers', 'members', 'everybody'])

function standbyNames(names: readonly string[], shards: number): readonly string[] {
  if (!Array.isArray(names) || names.length > standbyMax)
    throw new OptionError(`standby must be a list of at most ${standbyMax} names of replica sets, such as rs0, rs1.`)
  const taken = new Set(Array.from({ length: shards }, (_, i) => shardAddress(i)))
  for (const name of names as readonly unknown[]) {
    if (!isSetName(name))
      throw new OptionError(
        `standby has ${JSON.stringify(name)}, which cannot be the name of a replica set: use a letter, followed by letters, digits, -, _ and dots, such as rs0.`,
      )
    if (isReservedAddress(name) || linkEndNames.has(name))
      throw new OptionError(`standby has ${name}, which is reserved: choose another name, such as rs0.`)
    if (taken.has(name)) throw new OptionError(`standby has ${name}, which is taken: choose another name, such as rs0.`)
    taken.add(name)
  }
  return [...names]
}

function checkNames(what: string, options: object, names: readonly string[]): void {
  // Callers without types may pass anything.
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new OptionError(`the options of ${what} must be an object, such as { shards: 3 }.`)
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw new OptionError(
        `${name} is not an option of ${what}; ${suggestion(name, names) ?? `the options are ${names.join(', ')}.`}`,
      )
  }
}

function integer(name: string, value: number | undefined, otherwise: number, min: number, max: number): number {
  if (value === undefined) return otherwise
  if (!Number.isInteger(value) || value < min || value > max)
    throw new OptionError(`${name} is ${JSON.stringify(value)}; it must be a whole number from ${min} to ${max}.`)
  return value
}
