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
  /** false: the connection is known to be lost. */
  readonly isConnected: boolean
  /** `content` must not be changed afterwards. A message that cannot be sent is lost. */
  publish(subject: string, content: Uint8Array): void
  /** An error that `receive` throws is reported, and the message is lost. */
  subscribe(subject: string, receive: (message: BrokerMessage) => void): BrokerSubscription
  /** null: no answer arrived in time. @throws BrokerError the connection is closed */
  request(subject: string, content: Uint8Array, timeoutMs: number): Promise<Uint8Array | null>
  close(): Promise<void>
}

/** One sentence for the user. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError'
}
