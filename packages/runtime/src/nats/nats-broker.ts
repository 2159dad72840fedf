import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { BrokerError, type Broker, type BrokerMessage, type BrokerSubscription } from './broker.js'

/** A connection to a NATS server, without JetStream. */
export class NatsBroker implements Broker {
  readonly #connection: NatsConnection
  /** Closing the connection fails it, so the owner does what closing takes. */
  readonly #close: () => Promise<void>
  readonly #onError: (error: unknown) => void
  #isConnected = true

  /**
   * @param connection should reconnect without end: hosts decide themselves what a lost connection
   *   means
   * @param onError called with the errors of messages that could not be sent, and of the first,
   *   tenth, hundredth, … message of a subscription that could not be read
   */
  constructor(
    connection: NatsConnection,
    close: () => Promise<void> = () => connection.close(),
    onError: (error: unknown) => void = () => {},
  ) {
    this.#connection = connection
    this.#close = close
    this.#onError = onError
    void this.#watch()
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  get contentBytesMax(): number {
    return this.#connection.info!.max_payload
  }

  publish(subject: string, content: Uint8Array): void {
    // A server that has started again may take smaller messages only.
    this.#reporting(() => this.#connection.isClosed() || this.#connection.publish(subject, content))
  }

  subscribe(subject: string, receive: (message: BrokerMessage) => void): BrokerSubscription {
    let unreadable = 0
    let reportedNext = 1
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message: Msg) => {
        if (error !== null) return
        const respond =
          message.reply === undefined || message.reply === ''
            ? null
            : (answer: Uint8Array) => void message.respond(answer)
        // After an exception the client would read no further message of its connection.
        try {
          receive({ subject: message.subject, content: message.data, respond })
        } catch (reason) {
          // A stranger may send any number, and NATS does not name senders.
          if (++unreadable < reportedNext) return
          reportedNext *= 10
          this.#onError(unreadableError(message.subject, unreadable, reason))
        }
      },
    })
    return { close: () => this.#connection.isClosed() || subscription.unsubscribe() }
  }

  async request(subject: string, content: Uint8Array, timeoutMs: number): Promise<Uint8Array | null> {
    if (this.#connection.isClosed()) throw new BrokerError('the connection to NATS is closed.')
    try {
      return (await this.#connection.request(subject, content, { timeout: timeoutMs })).data
    } catch {
      // No subscription has the subject, no answer came in time, or the connection is lost.
      return null
    }
  }

  close(): Promise<void> {
    return this.#close()
  }

  #reporting(work: () => unknown): void {
    try {
      work()
    } catch (error) {
      this.#onError(error)
    }
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status())
      if (type === 'disconnect' || type === 'reconnect') this.#isConnected = type === 'reconnect'
  }
}

function unreadableError(subject: string, count: number, reason: unknown): BrokerError {
  const which = count === 1 ? 'it' : `it and ${count - 1} before it`
  return new BrokerError(`${which} cannot be read, with the subject ${subject}: ${(reason as Error).message}`)
}
