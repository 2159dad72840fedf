import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { BrokerError, type Broker, type BrokerMessage, type BrokerSubscription } from './broker.js'

/** A connection to a NATS server, without JetStream. */
export class NatsBroker implements Broker {
  readonly #connection: NatsConnection
  /** Closing the connection fails it, so the owner does what closing takes. */
  readonly #close: () => Promise<void>

  /**
   * @param connection should reconnect without end: hosts decide themselves what a lost connection
   *   means
   */
  constructor(connection: NatsConnection, close: () => Promise<void> = () => connection.close()) {
    this.#connection = connection
    this.#close = close
  }

  get contentBytesMax(): number {
    return this.#connection.info!.max_payload
  }

  publish(subject: string, content: Uint8Array): void {
    if (!this.#connection.isClosed()) this.#connection.publish(subject, content)
  }

  subscribe(subject: string, receive: (message: BrokerMessage) => void): BrokerSubscription {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message: Msg) => {
        if (error === null)
          receive({
            subject: message.subject,
            content: message.data,
            respond:
              message.reply === undefined || message.reply === '' ? null : (answer) => void message.respond(answer),
          })
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
}
