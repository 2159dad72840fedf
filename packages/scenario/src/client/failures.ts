import type { Document } from '@shardlab/bson'

/** The connection broke, or the reply timed out. */
export class NetworkFailure extends Error {
  readonly isTimeout: boolean
  /** The command was certainly not delivered. */
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

  /** For failures of a handshake: the command was not sent. */
  labelled(labels: readonly string[]): NetworkFailure {
    return new NetworkFailure(this.message, { isTimeout: this.isTimeout, isUndelivered: true }, [
      ...this.labels,
      ...labels,
    ])
  }
}

/** The server replied with an error. `code` null: the error has none. */
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

/** The client refuses to send the command. */
export class ClientFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ClientFailure'
  }
}

export class SelectionFailure extends Error {
  constructor(timeoutMs: number) {
    super(`Server selection timed out after ${timeoutMs} ms`)
    this.name = 'SelectionFailure'
  }
}
