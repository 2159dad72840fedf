import type { Address } from './address.js'

export type RequestFailure = 'unreachable' | 'timed-out' | 'cancelled'

/** A request got no answer. Roles map it to MongoDB's codes; clients never see this error. */
export class RequestFailedError extends Error {
  readonly reason: RequestFailure
  readonly to: Address
  /** With `unreachable`: the request was certainly not delivered, as with a refused connection. */
  readonly undelivered: boolean
  constructor(reason: RequestFailure, to: Address, message: string, undelivered = false) {
    super(message)
    this.name = 'RequestFailedError'
    this.reason = reason
    this.to = to
    this.undelivered = undelivered
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
