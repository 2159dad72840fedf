import type { Address } from './address.js'

export type RequestFailure = 'unreachable' | 'timed-out' | 'cancelled'

/** A request got no answer. Roles map it to MongoDB's codes; clients never see this error. */
export class RequestFailedError extends Error {
  readonly reason: RequestFailure
  readonly to: Address
  /**
   * With `unreachable`: the request certainly had no effect, because it was not delivered, as with
   * a refused connection, or a member that is not primary refused it.
   */
  readonly undelivered: boolean
  /** The primary that the member knows which refused the request; null: none. */
  readonly primaryHint: Address | null
  constructor(
    reason: RequestFailure,
    to: Address,
    message: string,
    undelivered = false,
    primaryHint: Address | null = null,
  ) {
    super(message)
    this.name = 'RequestFailedError'
    this.reason = reason
    this.to = to
    this.undelivered = undelivered
    this.primaryHint = primaryHint
  }
}

/**
 * Thrown by a handler that only a primary may run. The requester gets a {@link RequestFailedError},
 * as from a member that is down, and the actor keeps running. A notice is lost.
 */
export class NotPrimaryError extends Error {
  /** False: the member stepped down while it ran the request, which may have had an effect. */
  readonly undelivered: boolean
  /** The primary that this member knows; null: none. */
  readonly primaryHint: Address | null
  constructor(undelivered: boolean, primaryHint: Address | null = null) {
    super(undelivered ? 'is not primary' : 'stepped down before it answered')
    this.name = 'NotPrimaryError'
    this.undelivered = undelivered
    this.primaryHint = primaryHint
  }
}

export class StepFailedError extends Error {
  readonly step: string
  constructor(step: string) {
    super(`step ${step} was made to fail`)
    this.name = 'StepFailedError'
    this.step = step
  }
}

/** Nothing of the append or checkpoint has been written. */
export class DiskFullError extends Error {
  constructor(limitBytes: number) {
    super(`the disk is full: its limit is ${limitBytes} bytes`)
    this.name = 'DiskFullError'
  }
}
