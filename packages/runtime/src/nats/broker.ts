/** The part of a message broker that hosts need. NATS is one, and tests have one in memory. */

export interface BrokerMessage {
  readonly subject: string
  readonly content: Uint8Array
  /** null: the sender waits for no answer. */
  readonly respond: ((content: Uint8Array) => void) | null
}

export interface BrokerSubscription {
  close(): void
}

/**
 * Messages of one publisher with one subject arrive in order, at most once. While the connection to
 * the broker is lost, they may be lost or late.
 */
export interface Broker {
  readonly contentBytesMax: number
  /** `content` must not be changed afterwards. */
  publish(subject: string, content: Uint8Array): void
  subscribe(subject: string, receive: (message: BrokerMessage) => void): BrokerSubscription
  /** null: no answer arrived in time. @throws BrokerError the connection is closed */
  request(subject: string, content: Uint8Array, timeoutMs: number): Promise<Uint8Array | null>
  close(): Promise<void>
}

/** One sentence for the user. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError'
}
