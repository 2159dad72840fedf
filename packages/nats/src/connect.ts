/** A connection to NATS that reconnects, for a limited time if the caller wants. */
import { connect, errors, type NatsConnection } from '@nats-io/transport-node'
import { messageOf, OptionError } from './option-error.js'
import { connectionOptions, withoutPassword, type NatsOptions } from './options.js'
import { missingPermission } from './permissions.js'

const connectTimeoutMs = 5000
const reconnectEveryMs = 500
const pingEveryMs = 5000
const goneMsDefault = 60_000

export interface NatsLink {
  readonly connection: NatsConnection
  /** Without password. */
  readonly address: string
  /** Why the connection ended; null: it has not. */
  error(): OptionError | null
  /** Called once, at once if the connection has ended. */
  onGone(listener: (error: OptionError) => void): void
  /** For consumers of JetStream: a restarted server has lost them, which they notice late. */
  onReconnect(listener: () => void): void
  /** Reports a sentence that does not end the connection. */
  readonly tell: (sentence: string) => void
  close(): Promise<void>
}

/**
 * A missing permission ends the connection, as a refused login does: the server would ignore all
 * further messages of that subject, and their senders would wait.
 *
 * @param onNews called with sentences for the user that do not end the connection
 * @throws OptionError if the server cannot be reached or refuses, with the reason
 */
export async function connectNats(
  options: NatsOptions,
  name: string,
  onNews: (sentence: string) => void = () => {},
): Promise<NatsLink> {
  const address = withoutPassword(options)
  const given = connectionOptions(options)
  let connection: NatsConnection
  try {
    connection = await connect({
      ...given,
      name,
      timeout: connectTimeoutMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectEveryMs,
      // A connection on which nothing arrives is noticed after a few seconds.
      pingInterval: pingEveryMs,
      maxPingOut: 2,
    })
  } catch (error) {
    throw new OptionError(refusal(address, error))
  }
  const { goneMs = goneMsDefault } = options
  const listeners: ((error: OptionError) => void)[] = []
  const reconnectListeners: (() => void)[] = []
  let error: OptionError | null = null
  let isClosing = false
  const giveUp = (text: string): void => {
    if (isClosing || error !== null) return
    error = new OptionError(text)
    for (const listener of listeners.splice(0)) listener(error)
    void connection.close()
  }
  void watch(connection, {
    goneMs,
    onGone: () =>
      giveUp(`NATS at ${address} has been gone for ${goneMs! / 1000} seconds: start it again, then this command`),
    onReconnect: () => reconnectListeners.forEach((listener) => listener()),
    onError: (reason) => {
      const sentence = missingPermission(address, reason)
      if (sentence !== null) giveUp(sentence)
    },
  })
  void connection
    .closed()
    .then((reason) => giveUp(`NATS at ${address} has closed the connection: ${messageOf(reason ?? 'no reason given')}`))
  return {
    connection,
    address,
    error: () => error,
    onGone(listener) {
      if (error === null) listeners.push(listener)
      else listener(error)
    },
    onReconnect: (listener) => void reconnectListeners.push(listener),
    tell: onNews,
    close() {
      isClosing = true
      return connection.close()
    },
  }
}

interface Watch {
  /** null: never. */
  readonly goneMs: number | null
  readonly onGone: () => void
  readonly onReconnect: () => void
  /** An error that the server has sent. */
  readonly onError: (error: unknown) => void
}

async function watch(connection: NatsConnection, { goneMs, onGone, onReconnect, onError }: Watch): Promise<void> {
  let alarm: NodeJS.Timeout | undefined
  for await (const status of connection.status()) {
    const { type } = status
    if (type === 'error') onError(status.error)
    if (type === 'disconnect' && goneMs !== null) alarm ??= setTimeout(onGone, goneMs)
    if (type !== 'reconnect' && type !== 'close') continue
    clearTimeout(alarm)
    alarm = undefined
    if (type === 'reconnect') onReconnect()
  }
}

function refusal(address: string, error: unknown): string {
  const { cause } = error as { cause?: unknown }
  const text = messageOf(cause ?? error)
  if (error instanceof errors.AuthorizationError || /authorization/i.test(messageOf(error)))
    return `NATS at ${address} refuses the login: check user and password in the URL, or --nats-creds`
  if (/certificate|tls|ssl/i.test(text)) return `NATS at ${address} cannot be reached with TLS: ${text}`
  return `NATS cannot be reached at ${address}: ${text}. Check the address, and that nats-server runs`
}
