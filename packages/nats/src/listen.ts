import type { Msg, Subscription } from '@nats-io/transport-node'
import type { NatsLink } from './connect.js'
import { messageOf } from './option-error.js'

/**
 * Subscribes. A message that `receive` cannot read is ignored: after an exception the client would
 * read no further message of its connection. The link reports the first one, the tenth, the
 * hundredth and so on, because a stranger may send any number, and NATS does not name senders.
 */
export function listen(link: NatsLink, subject: string, receive: (message: Msg) => void): Subscription {
  const { connection, address, tell } = link
  let unreadable = 0
  let reportedNext = 1
  return connection.subscribe(subject, {
    callback: (error, message) => {
      // Such as a missing permission, with which the link ends.
      if (error !== null) return
      try {
        receive(message)
      } catch (reason) {
        if (++unreadable < reportedNext) return
        reportedNext *= 10
        const what =
          unreadable === 1
            ? `a message with the subject ${message.subject} cannot be read and is ignored`
            : `${unreadable} messages with subjects such as ${message.subject} could not be read and were ignored, the last one`
        tell(`NATS at ${address}: ${what}: ${messageOf(reason)}`)
      }
    },
  })
}
