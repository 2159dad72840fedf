import { CommandError } from '@shardlab/bson'

/** `set/host:port,…` or `host:port`. Server: connection_string.cpp. */
export interface ConnectionString {
  /** Null: a single host. */
  readonly setName: string | null
  readonly hosts: readonly string[]
}

const defaultPort = 27017
const portMax = 65535

/** @throws CommandError 9 FailedToParse */
export function parseConnectionString(text: string): ConnectionString {
  const slash = text.indexOf('/')
  if (slash > 0)
    return {
      setName: text.slice(0, slash),
      hosts: text
        .slice(slash + 1)
        .split(',')
        .map(parseHost),
    }
  const commas = text.split(',').length - 1
  if (commas === 0) return { setName: null, hosts: [parseHost(text)] }
  throw new CommandError(
    'FailedToParse',
    commas === 2
      ? 'mirrored config server connections are not supported; for config server replica sets be sure to use the replica set connection string'
      : `invalid url [${text}]`,
  )
}

/** Server: host_and_port.cpp, initialize; parse_number.cpp. */
function parseHost(text: string): string {
  const colon = text.lastIndexOf(':')
  const host = colon < 0 ? text : text.slice(0, colon)
  if (text.indexOf(':') !== colon && !/^\[.*\]$/.test(host))
    throw new CommandError(
      'FailedToParse',
      `More than one ':' detected. If this is an ipv6 address, it needs to be surrounded by '[' and ']'; ${text}`,
    )
  if (host === '') throw new CommandError('FailedToParse', `Empty host component parsing HostAndPort from "${text}"`)
  if (colon < 0) return `${host}:${defaultPort}`
  const digits = text.slice(colon + 1)
  if (!/^[+-]?\d+$/.test(digits))
    throw new CommandError('FailedToParse', digits === '' ? 'Empty string' : 'Did not consume whole string.')
  const port = Number(digits)
  if (port <= 0 || port > portMax)
    throw new CommandError('FailedToParse', `Port number ${digits} out of range parsing HostAndPort from "${text}"`)
  return text
}
