import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'

/**
 * Subscribes. A message that `receive` cannot read is dropped: after an exception the client would
 * read no further message of its connection.
 */
export function listen(connection: NatsConnection, subject: string, receive: (message: Msg) => void): Subscription {
  return connection.subscribe(subject, {
    callback: (error, message) => {
      // Such as a subscription that the server does not allow.
      if (error !== null) return
      try {
        receive(message)
      } catch {
        // It came from a stranger.
      }
    },
  })
}
