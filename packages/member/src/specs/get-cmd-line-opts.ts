import { clientConnectionsMax } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const getCmdLineOptsSpec = {
  name: 'getCmdLineOpts',
  access: 'admin',
  privileges: onCluster('getCmdLineOpts'),
  adminOnly: true,
  manual: 'reference/command/getCmdLineOpts',
} as const satisfies CommandSpec

/** An option of the command line, with its section and name in a configuration file. */
export interface StartOption {
  readonly flag: string
  /** null: a flag without an argument */
  readonly argument: string | null
  readonly section: string
  readonly name: string
  readonly value: string | number
}

/**
 * The command line that would start a server as this member is, as far as the member knows it.
 * Server: cmdline_utils/censor_cmdline.cpp; the sections are sorted, as in
 * optionenvironment::Environment.
 * @param ofRole its options of the set and the cluster
 */
export function writeCommandLine(host: MemberHost, ofRole: readonly StartOption[]): DocumentWriter {
  const options = [...ofRole, ...accessOptions(host), ...netOptions(host), ...parameterOptions(host)]
  const words = [host.process, ...options.flatMap(({ flag, argument }) => [flag, argument ?? []].flat())]
  const writer = new DocumentWriter(512).startArray('argv')
  words.forEach((word, i) => writer.string(String(i), word))
  writer.end().startDocument('parsed')
  for (const section of [...new Set(options.map((option) => option.section))].toSorted()) {
    writer.startDocument(section)
    for (const { name, value } of inSection(options, section))
      if (typeof value === 'number') writer.int32(name, value)
      else writer.string(name, value)
    writer.end()
  }
  return writer.end()
}

function inSection(options: readonly StartOption[], section: string): readonly StartOption[] {
  return options.filter((option) => option.section === section).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Routers have no such option. */
function accessOptions(host: MemberHost): readonly StartOption[] {
  if (!host.hasAccessControl || host.process === 'mongos') return []
  return [{ flag: '--auth', argument: null, section: 'security', name: 'authorization', value: 'enabled' }]
}

function netOptions({ context }: MemberHost): readonly StartOption[] {
  const { endpoint } = context
  const colon = endpoint.lastIndexOf(':')
  const net = (flag: string, name: string, value: string | number): StartOption => {
    return { flag, argument: String(value), section: 'net', name, value }
  }
  const { connectionsMax = clientConnectionsMax } = context.port() ?? {}
  return [
    net('--bind_ip', 'bindIp', endpoint.slice(0, colon)),
    net('--port', 'port', Number(endpoint.slice(colon + 1))),
    ...(connectionsMax === clientConnectionsMax ? [] : [net('--maxConns', 'maxIncomingConnections', connectionsMax)]),
  ]
}

function parameterOptions({ parameters }: MemberHost): readonly StartOption[] {
  return Object.entries({ enableTestCommands: 1, ...parameters.given }).map(([name, given]) => {
    const value = String(given)
    return { flag: '--setParameter', argument: `${name}=${value}`, section: 'setParameter', name, value }
  })
}
