/** Server: mongod_options.cpp, mongos_options.cpp, server_options_helpers.cpp. */
import type { TlsSettings } from '@shardlab/cluster'
import { parseHosts } from './config-db.js'
import type { GivenOptions } from './given-options.js'
import type { ServerName } from './option-table.js'
import { authOf } from './server-auth.js'
import { ServerOptionError } from './server-error.js'
import { tlsOf } from './server-tls.js'

export interface ServerSettings {
  readonly server: ServerName
  readonly role: 'mongod' | 'shard' | 'config-server' | 'mongos'
  /** 0: any free port. */
  readonly port: number
  /** Addresses to listen on, at least one. */
  readonly hosts: readonly string[]
  /** Null: clients connect without TLS. */
  readonly tls: TlsSettings | null
  /** Null: not given. */
  readonly maxConns: number | null
  /** Clients need a user. */
  readonly auth: boolean
  /** null: none. */
  readonly keyFile: string | null
  /** Null: a standalone mongod, or mongos. */
  readonly setName: string | null
  /** Of mongos. */
  readonly configDb: { readonly setName: string; readonly hosts: readonly string[] } | null
  /** Null: not given, and data is held in memory. */
  readonly dbPath: string | null
  readonly storageEngine: string
  /** False: the storage engine holds data in memory. */
  readonly storesData: boolean
  /** Null: standard output. */
  readonly logPath: string | null
  readonly logAppend: boolean
  readonly pidFilePath: string | null
  readonly fork: boolean
  readonly parameters: Readonly<Record<string, string>>
  readonly given: GivenOptions
}

/** Later options of the command line win over those of the file. @throws ServerOptionError */
export function resolveSettings(server: ServerName, given: GivenOptions): ServerSettings {
  refuseUnsupported(given)
  const clusterRole = clusterRoleOf(given)
  const setName = text(given, 'replSet') ?? text(given, 'replication.replSetName')
  if (clusterRole !== null && setName === null)
    throw bad(
      `Cannot start a ${clusterRole} as a standalone server. Please use the option --replSet to start the node as a replica set.`,
    )
  const port = (value(given, 'port') as number | undefined) ?? defaultPorts[clusterRole ?? 'none']
  if (port < 0) throw bad('net.port must be greater than or equal to 0')
  if (port > 65_535) throw bad('net.port must be less than or equal to 65535')
  const configDb = text(given, 'configdb')
  if (server === 'mongos' && configDb === null) throw bad('error: no args for --configdb')
  const logPath = text(given, 'logpath')
  const storageEngine = text(given, 'storageEngine') ?? 'wiredTiger'
  if (isOn(given, 'fork') && logPath === null && !isOn(given, 'syslog'))
    throw bad('--fork has to be used with --logpath or --syslog')
  if (text(given, 'systemLog.destination') === 'file' && logPath === null)
    throw bad('systemLog.destination is set to file but systemLog.path is not specified')
  const parameters = (value(given, 'setParameter') ?? {}) as Record<string, string>
  checkNoopInterval(parameters)
  return {
    server,
    role: server === 'mongos' ? 'mongos' : clusterRole === null ? 'mongod' : rolesByName[clusterRole],
    port,
    hosts: hostsOf(given),
    tls: tlsOf(server, given),
    maxConns: maxConnsOf(given),
    auth: authOf({
      ...{ auth: isOn(given, 'auth'), noauth: isOn(given, 'noauth'), setName },
      ...{ authorization: text(given, 'security.authorization'), keyFile: text(given, 'keyFile') },
    }),
    keyFile: text(given, 'keyFile'),
    setName: setName === null ? null : setName.split('/')[0]!,
    configDb: configDb === null ? null : parseHosts(configDb),
    dbPath: text(given, 'dbpath'),
    storageEngine,
    storesData: !enginesInMemory.has(storageEngine),
    logPath,
    logAppend: isOn(given, 'logappend'),
    pidFilePath: text(given, 'pidfilepath'),
    fork: isOn(given, 'fork'),
    parameters,
    given,
  }
}

const enginesInMemory: ReadonlySet<string> = new Set(['ephemeralForTest', 'inMemory', 'inMemoryExperiment', 'devnull'])

function maxConnsOf(given: GivenOptions): number | null {
  const most = (value(given, 'maxConns') as number | undefined) ?? null
  if (most !== null && most < 5) throw bad('maxConns has to be at least 5')
  return most
}

function checkNoopInterval({ periodicNoopIntervalSecs: text }: Record<string, string>): void {
  if (text === undefined) return
  const name = 'periodicNoopIntervalSecs'
  if (!/^-?\d+$/.test(text)) throw bad(`Failed to parse value '${text}' for setParameter ${name}`)
  if (Number(text) <= 0) throw bad(`Invalid value for parameter ${name}: ${text} is not greater than 0`)
  if (Number(text) > 10) throw bad(`Invalid value for parameter ${name}: ${text} is not less than or equal to 10`)
}

type ClusterRole = 'shardsvr' | 'configsvr'

const defaultPorts = { none: 27_017, shardsvr: 27_018, configsvr: 27_019 } as const
const rolesByName = { shardsvr: 'shard', configsvr: 'config-server' } as const

function clusterRoleOf(given: GivenOptions): ClusterRole | null {
  const inFile = text(given, 'sharding.clusterRole')
  if (inFile !== null && inFile !== 'shardsvr' && inFile !== 'configsvr')
    throw bad(`Bad value for sharding.clusterRole: ${inFile}.  Supported modes are: (configsvr|shardsvr)`)
  const names = (['shardsvr', 'configsvr'] as const).filter((name) => isOn(given, name) || inFile === name)
  if (names.length > 1) throw bad('Cannot specify both shardsvr and configsvr')
  return names[0] ?? null
}

function hostsOf(given: GivenOptions): string[] {
  const listed = text(given, 'bind_ip')
  if (isOn(given, 'bind_ip_all')) {
    if (listed !== null) throw bad('Cannot specify both net.bindIp and net.bindIpAll')
    return [isOn(given, 'ipv6') ? '::' : '0.0.0.0']
  }
  const names = (listed ?? 'localhost').split(',').map((each) => each.trim())
  const hosts = names.flatMap((name) => {
    if (name === 'localhost') return isOn(given, 'ipv6') ? ['127.0.0.1', '::1'] : ['127.0.0.1']
    if (name === '*') return [isOn(given, 'ipv6') ? '::' : '0.0.0.0']
    // Unix domain sockets are not emulated.
    return name === '' || name.startsWith('/') ? [] : [name]
  })
  return hosts.length === 0 ? ['127.0.0.1'] : [...new Set(hosts)]
}

/** Answers without what they ask for would be wrong. */
function refuseUnsupported(given: GivenOptions): void {
  for (const [{ name, path, effect }, value] of given) {
    if (effect === 'refused' && value !== false && value !== 'disabled')
      throw bad(`${name === '' ? path : `--${name}`} is not emulated: remove it.`)
  }
}

/** @param name of the command line, or a path that only files have */
function value(given: GivenOptions, name: string): unknown {
  for (const [option, each] of given)
    if (option.name === name || (option.name === '' && option.path === name)) return each
  return undefined
}

function text(given: GivenOptions, name: string): string | null {
  return (value(given, name) as string | undefined) ?? null
}

function isOn(given: GivenOptions, name: string): boolean {
  return value(given, name) === true
}

function bad(reason: string): ServerOptionError {
  return new ServerOptionError(`BadValue: ${reason}`)
}
