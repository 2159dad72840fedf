import { CommandError } from '@shardlab/bson'

/** The command gets no reply, and the connection of its client is closed, or is already. */
export class ConnectionClosedError extends CommandError {
  constructor(message = 'the client has closed its connection') {
    super(50985, message)
  }
}
