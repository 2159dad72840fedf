/** How an attempt ends that is not answered with `ok: 1`. */
import type { Document } from '@shardlab/bson'

/** The way to the mongos broke, or nothing came in time. */
export class NetworkFailure extends Error {
  readonly isTimeout: boolean
  /** The mongos has certainly not got the command. */
  readonly isUndelivered: boolean
  readonly labels: readonly string[]

  constructor(
    message: string,
    how: { readonly isTimeout: boolean; readonly isUndelivered: boolean },
    labels: readonly string[] = [],
  ) {
    super(message)
    this.name = 'NetworkFailure'
    this.isTimeout = how.isTimeout
    this.isUndelivered = how.isUndelivered
    this.labels = labels
  }

  /** While a connection was being made: the command has not been sent. */
  labelled(labels: readonly string[]): NetworkFailure {
    return new NetworkFailure(this.message, { isTimeout: this.isTimeout, isUndelivered: true }, [
      ...this.labels,
      ...labels,
    ])
  }
}

/** The server answered with an error; `code` null when it has none. */
export class CommandFailure extends Error {
  readonly code: number | null
  readonly labels: readonly string[]
  readonly reply: Document

  constructor(code: number | null, message: string, labels: readonly string[], reply: Document) {
    super(message)
    this.name = 'CommandFailure'
    this.code = code
    this.labels = labels
    this.reply = reply
  }
}

/** The client itself does not send such a command. */
export class ClientFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ClientFailure'
  }
}

/** No mongos could be asked in time. */
export class SelectionFailure extends Error {
  constructor(timeoutMs: number) {
    super(`Server selection timed out after ${timeoutMs} ms`)
    this.name = 'SelectionFailure'
  }
}
