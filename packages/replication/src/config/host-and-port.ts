/** Addresses of members, and of whole sets. Server: hostandport.cpp, connection_string.cpp. */
import type { ReplicaSetConfig } from './replica-set-config.js'

const defaultPort = 27_017

/** @returns `host:port`, an IPv6 address in brackets; or why it is none, in the server's words */
export function parseHost(text: string): { readonly host: string } | { readonly fault: string } {
  const { name, port, fault } = split(text)
  if (fault !== null) return { fault }
  if (name === '') return { fault: `Empty host component parsing HostAndPort from "${text}"` }
  const shown = name.includes(':') ? `[${name}]` : name
  if (port === null) return { host: `${shown}:${defaultPort}` }
  if (port === '') return { fault: 'Empty string' }
  if (!/^[+-]?\d+$/.test(port)) return { fault: 'Did not consume whole string.' }
  const number = Number(port)
  if (number <= 0 || number > 65_535) {
    return { fault: `Port number ${number} out of range parsing HostAndPort from "${text}"` }
  }
  return { host: `${shown}:${number}` }
}

interface Parts {
  readonly name: string
  /** Null: none. */
  readonly port: string | null
  readonly fault: string | null
}

function split(text: string): Parts {
  const failed = (fault: string): Parts => ({ name: '', port: null, fault })
  const colon = text.lastIndexOf(':')
  const open = text.indexOf('[')
  const close = text.indexOf(']')
  if (open === -1) {
    if (close !== -1) return failed(`']' present without '[' in ${text}`)
    if (text.indexOf(':') !== colon) {
      return failed(
        `More than one ':' detected. If this is an ipv6 address, it needs to be surrounded by '[' and ']'; ${text}`,
      )
    }
    return colon === -1
      ? { name: text, port: null, fault: null }
      : { name: text.slice(0, colon), port: text.slice(colon + 1), fault: null }
  }
  if (open !== 0) return failed(`'[' present, but not first character in ${text}`)
  if (close === -1) return failed(`ipv6 address is missing closing ']' in hostname in ${text}`)
  const name = text.slice(1, close)
  if (colon < close) {
    return text.length === close + 1
      ? { name, port: null, fault: null }
      : failed(`missing colon after ']' before the port in ${text}`)
  }
  if (colon !== close + 1) return failed(`Extraneous characters between ']' and pre-port ':' in ${text}`)
  return { name, port: text.slice(colon + 1), fault: null }
}

/** A host that only members on the same machine reach. */
export function isLocalHost(host: string): boolean {
  const name = host.slice(0, host.lastIndexOf(':'))
  return name === 'localhost' || name.startsWith('127.') || name === '[::1]' || name.startsWith('/')
}

/** A set as in `addShard`: `set/host:port,host:port`. */
export interface SetAddress {
  readonly setName: string
  readonly hosts: readonly string[]
}

/** @returns null: not `set/host,…` */
export function parseSetAddress(text: string): SetAddress | null {
  const slash = text.indexOf('/')
  if (slash <= 0) return null
  const hosts: string[] = []
  for (const part of text.slice(slash + 1).split(',')) {
    const parsed = parseHost(part.trim())
    if ('fault' in parsed) return null
    hosts.push(parsed.host)
  }
  return { setName: text.slice(0, slash), hosts }
}

export const setAddressText = ({ setName, hosts }: SetAddress): string => `${setName}/${hosts.join(',')}`

/** What other sets know of this one: no hidden members and no arbiters. */
export const setAddressOf = ({ name, members }: ReplicaSetConfig): SetAddress => ({
  setName: name,
  hosts: members.filter(({ hidden, arbiterOnly }) => !hidden && !arbiterOnly).map(({ host }) => host),
})
