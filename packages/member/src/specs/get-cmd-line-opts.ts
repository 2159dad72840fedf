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
  readonly value: string
}

/**
 * The command line that would start a server as this member is. @param options by section
 */
export function writeCommandLine(host: MemberHost, options: readonly StartOption[]): DocumentWriter {
  const { endpoint } = host.context
  const colon = endpoint.lastIndexOf(':')
  const [bindIp, port] = [endpoint.slice(0, colon), endpoint.slice(colon + 1)]
  const words = [
    host.process,
    ...options.flatMap(({ flag, argument }) => [flag, argument ?? []].flat()),
    ...['--bind_ip', bindIp, '--port', port, '--setParameter', 'enableTestCommands=1'],
  ]
  const writer = new DocumentWriter(512).startArray('argv')
  words.forEach((word, i) => writer.string(String(i), word))
  writer.end().startDocument('parsed')
  writer.startDocument('net').string('bindIp', bindIp).int32('port', Number(port)).end()
  for (const { section, name, value } of options) writer.startDocument(section).string(name, value).end()
  return writer.startDocument('setParameter').string('enableTestCommands', '1').end().end()
}
