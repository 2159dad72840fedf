import type { Address } from './address.js'

/** Why a request has no answer. */
export type RequestFailure = 'unreachable' | 'timed-out' | 'cancelled'

/**
 * A request between actors got no answer. Roles map it to MongoDB's codes; clients never see this
 * error itself.
 */
export class RequestFailedError extends Error {
  readonly reason: RequestFailure
  readonly to: Address
  /**
   * With `unreachable`: whether the request was certainly not delivered, as with a refused
   * connection.
   */
  readonly undelivered: boolean
  constructor(reason: RequestFailure, to: Address, message: string, undelivered = false) {
    super(message)
    this.name = 'RequestFailedError'
    this.reason = reason
    this.to = to
    this.undelivered = undelivered
  }
}

/** A fault made a named step fail. */
export class StepFailedError extends Error {
  readonly step: string
  constructor(step: string) {
    super(`step ${step} was made to fail`)
    this.name = 'StepFailedError'
    this.step = step
  }
}

/** The disk has no room for an append or a checkpoint. Nothing of it was written. */
export class DiskFullError extends Error {
  constructor(limitBytes: number) {
    super(`the disk is full: its limit is ${limitBytes} bytes`)
    this.name = 'DiskFullError'
  }
}
