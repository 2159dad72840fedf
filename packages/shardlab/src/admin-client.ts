import { decode, encode, findField, firstFieldName, type Document } from '@shardlab/bson'
import { ConnectError, LoginNeededError } from './connect-error.js'
import { logInWith } from './log-in-with.js'
import { loginInUri } from './login-of-uri.js'
import { CommandConnection } from './command-connection.js'
import { hostsOf, withoutSecrets } from './hosts-of-uri.js'
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
  const isRepeatable = findField(body, 'requestId') !== undefined
  const [reply, connection] = await onFirstHost(
    uri,
    (isLast) => (isRepeatable && !isLast ? repeatAfterMs : timeoutMs),
    (connection) => connection.send(body),
  )
  connection.close()
  checkReply(uri, body, reply)
  return reply
}

/**
 * {@link runAdminCommand} for a command `shardlab`: the fields that concern it.
 * @throws ConnectError also with the sentence of an error reply
 */
export async function replyFrom(uri: string, command: Document, timeoutMs?: number): Promise<Document> {
  return fieldsOf(await runAdminCommand(uri, command, timeoutMs))
}

/** @throws ConnectError with the sentence of an error reply */
function fieldsOf(answer: Document): Document {
  const { $clusterTime: _, operationTime: __, ...reply } = answer
  if (reply['ok'] === 1) return reply
  throw new ConnectError(String(reply['errmsg']))
}

/**
 * {@link replyFrom} for many commands, one after the other, on one connection. It is opened again
 * if it was lost; a command may then run twice.
 */
export class AdminConnection {
  readonly #uri: () => string
  #connection: CommandConnection | null = null
  #isClosed = false

  /** @param uri read again for each new connection */
  constructor(uri: () => string) {
    this.#uri = uri
  }

  /** @throws ConnectError */
  async reply(command: Document): Promise<Document> {
    const body = encode({ ...command, $db: 'admin' })
    const reply = (await this.#onKept(body)) ?? (await this.#onNew(body))
    checkReply(this.#uri(), body, reply)
    return fieldsOf(decode(reply, { promoteLongs: true }))
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.close()
    this.#connection = null
  }

  /** null: no connection is open, or the server has closed it. */
  async #onKept(body: Uint8Array): Promise<Uint8Array | null> {
    try {
      return (await this.#connection?.send(body)) ?? null
    } catch (error) {
      if (this.#isClosed) throw error
      this.#connection?.close()
      this.#connection = null
      return null
    }
  }

  async #onNew(body: Uint8Array): Promise<Uint8Array> {
    const send = (connection: CommandConnection): Promise<Uint8Array> => connection.send(body)
    const [reply, connection] = await onFirstHost(this.#uri(), () => answerTimeoutMs, send)
    if (this.#isClosed) connection.close()
    else this.#connection = connection
    return reply
  }
}

/** The first host that answers; the caller closes the connection. @throws ConnectError */
async function onFirstHost<T>(
  uri: string,
  timeoutMsOf: (isLast: boolean) => number,
  use: (connection: CommandConnection) => Promise<T>,
): Promise<[T, CommandConnection]> {
  const hosts = hostsOf(uri)
  const tls = tlsInUri(uri)
  const login = loginInUri(uri)
  const failures: string[] = []
  for (const [i, { host, port }] of hosts.entries()) {
    let connection: CommandConnection | null = null
    try {
      connection = await CommandConnection.open({ host, port, tls }, timeoutMsOf(i === hosts.length - 1))
      if (login !== null) await logInWith(connection, login)
      return [await use(connection), connection]
    } catch (error) {
      connection?.close()
      if (error instanceof ConnectError) throw error
      failures.push(`${host}:${port}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new ConnectError(
    `no cluster answers at ${withoutSecrets(uri)} (${failures.join('; ')}): start one, or correct the URI.`,
  )
}

/** @throws ConnectError, LoginNeededError */
function checkReply(uri: string, body: Uint8Array, reply: Uint8Array): void {
  const code = findField(reply, 'code')?.asNumber()
  if (code === commandNotFound && firstFieldName(body) === 'shardlab')
    throw new ConnectError(
      `the server at ${withoutSecrets(uri)} is not a Shardlab cluster: it does not have the command shardlab.`,
    )
  if (code === unauthorized && loginInUri(uri) === null) throw new LoginNeededError()
}
