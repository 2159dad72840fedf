import { readFileSync } from 'node:fs'
import type { NodeConnectionOptions } from '@nats-io/transport-node'
import { credsAuthenticator } from '@nats-io/transport-node'
import { messageOf, OptionError } from './option-error.js'

export interface NatsOptions {
  /** `nats://host:4222` or `tls://…`, with `user:password@` or `token@`; several, with commas. */
  readonly url: string
  /** File with the JWT and the seed of a user, as `nsc` writes it. */
  readonly credsFile?: string
  /** Files in PEM format. */
  readonly tlsCaFile?: string
  readonly tlsCertFile?: string
  readonly tlsKeyFile?: string
  /** A connection that is lost for this time ends with an error; null: never. Default 60,000. */
  readonly goneMs?: number | null
}

const defaultPort = 4222

/** @throws OptionError for an invalid URL, and for a file that cannot be read */
export function connectionOptions(options: NatsOptions): NodeConnectionOptions {
  const urls = options.url.split(',').map((text) => parseUrl(text.trim()))
  const [{ username, password }] = urls as [URL]
  const user = decoded(username)
  const { tlsCaFile, tlsCertFile, tlsKeyFile, credsFile } = options
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined))
    throw new OptionError(
      'a certificate and its key belong together: give --nats-tls-cert and --nats-tls-key, or neither',
    )
  const tls = {
    ...(tlsCaFile === undefined ? {} : { ca: read(tlsCaFile, '--nats-tls-ca') }),
    ...(tlsCertFile === undefined ? {} : { cert: read(tlsCertFile, '--nats-tls-cert') }),
    ...(tlsKeyFile === undefined ? {} : { key: read(tlsKeyFile, '--nats-tls-key') }),
  }
  const isTls = urls.some(({ protocol }) => protocol === 'tls:') || Object.keys(tls).length > 0
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? defaultPort : port}`),
    ...(credsFile === undefined
      ? {}
      : { authenticator: credsAuthenticator(new TextEncoder().encode(read(credsFile, '--nats-creds'))) }),
    ...(user === '' ? {} : password === '' ? { token: user } : { user, pass: decoded(password) }),
    ...(isTls ? { tls } : {}),
  }
}

/** @throws OptionError */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new OptionError('the login in the address of NATS has a % that is no code of a character: write it as %25')
  }
}

/** For messages. */
export function withoutPassword({ url }: NatsOptions): string {
  const at = url.lastIndexOf('@')
  // A login may have any characters.
  return at < 0 ? url : `${/^\w+:\/\//.exec(url)?.[0] ?? ''}***@${url.slice(at + 1)}`
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '')
    throw new OptionError(
      `the address of NATS is "${withoutPassword({ url: text })}": write it as nats://host:4222 or tls://host:4222`,
    )
  return url
}

function read(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OptionError(`the file of ${option} cannot be read: ${messageOf(error)}`)
  }
}
