import { decode, encode, findField, firstFieldName, type Document } from '@shardlab/bson'
import { ConnectError, LoginNeededError } from './connect-error.js'
import { logInWith } from './log-in-with.js'
import { loginInUri, type UriLogin } from './login-of-uri.js'
import { CommandConnection, type Target } from './command-connection.js'
import { tlsInUri } from './tls-of-uri.js'

const answerTimeoutMs = 30_000
/** After this time a command that may be repeated is sent to the next host. */
const repeatAfterMs = 3000
const commandNotFound = 59
const unauthorized = 13

/**
 * Runs a command on admin and resolves with the reply, which can be an error reply.
 * @param uri `mongodb://host:port[,host:port…][/…]`: the first host that answers receives the
 *   command. A command with a `requestId` may be received by several. A user, `authSource`,
 *   `authMechanism` and the options of TLS have an effect
 * @param timeoutMs 0: none
 * @throws LoginNeededError without a user, on a cluster with access control
 * @throws ConnectError for an invalid URI, when no host answers, when the login fails, or when the
 *   server does not have the command
 */
export async function runAdminCommand(uri: string, command: Document, timeoutMs = answerTimeoutMs): Promise<Document> {
  const body = encode({ ...command, $db: 'admin' })
  return decode(await runCommand(uri, body, timeoutMs), { promoteLongs: true })
}

/** {@link runAdminCommand} for a command with `$db`, as bytes. */
export async function runCommand(uri: string, body: Uint8Array, timeoutMs = answerTimeoutMs): Promise<Uint8Array> {
  const hosts = hostsOf(uri)
  const tls = tlsInUri(uri)
  const login = loginInUri(uri)
  const mayRepeat = findField(body, 'requestId') !== undefined
  const failures: string[] = []
  for (const [i, { host, port }] of hosts.entries()) {
    const limitMs = mayRepeat && i < hosts.length - 1 ? repeatAfterMs : timeoutMs
    try {
      const reply = await exchange({ host, port, tls }, login, body, limitMs)
      const code = findField(reply, 'code')?.asNumber()
      if (code === commandNotFound && firstFieldName(body) === 'shardlab')
        throw new ConnectError(
          `the server at ${host}:${port} is not a Shardlab cluster: it does not have the command ${firstFieldName(body)}.`,
        )
      if (code === unauthorized && login === null) throw new LoginNeededError()
      return reply
    } catch (error) {
      if (error instanceof ConnectError) throw error
      failures.push(`${host}:${port}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new ConnectError(
    `no cluster answers at ${withoutSecrets(uri)} (${failures.join('; ')}): start one, or correct the URI.`,
  )
}

/**
 * {@link runAdminCommand} for a command `shardlab`: the fields that concern it.
 * @throws ConnectError also with the sentence of an error reply
 */
export async function replyFrom(uri: string, command: Document, timeoutMs?: number): Promise<Document> {
  const { $clusterTime: _, operationTime: __, ...reply } = await runAdminCommand(uri, command, timeoutMs)
  if (reply['ok'] === 1) return reply
  throw new ConnectError(String(reply['errmsg']))
}

/** The URI without the user and without passwords, for messages. */
export const withoutSecrets = (uri: string): string =>
  uri.replace(/^([a-z+]*:\/\/).*@/i, '$1').replace(/(tlsCertificateKeyFilePassword=)[^&]*/i, '$1***')

function hostsOf(uri: string): { readonly host: string; readonly port: number }[] {
  const [, authority, path = ''] = /^mongodb:\/\/(?:[^@/?]*@)?([^/?]+)([^?]*)/.exec(uri) ?? []
  if (authority === undefined)
    throw new ConnectError(`the URI is "${withoutSecrets(uri)}"; it must be like mongodb://127.0.0.1:27017/.`)
  if (authority.includes('@') || path.includes('@'))
    throw new ConnectError('the URI has a user or a password with @, / or ?: write %40, %2F or %3F.')
  return authority.split(',').map((text) => {
    const [, bracketed, plain, port = '27017'] = /^(?:\[(.+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
    const host = bracketed ?? plain
    if (host === undefined || Number(port) > 65_535)
      throw new ConnectError(`the URI has the host "${text}"; it must be like 127.0.0.1:27017.`)
    return { host: decodeURIComponent(host), port: Number(port) }
  })
}

async function exchange(
  target: Target,
  login: UriLogin | null,
  body: Uint8Array,
  timeoutMs: number,
): Promise<Uint8Array> {
  const connection = await CommandConnection.open(target, timeoutMs)
  try {
    if (login !== null) await logInWith(connection, login)
    return await connection.send(body)
  } finally {
    connection.close()
  }
}
