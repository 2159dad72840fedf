import type { RequestFailure } from '../contract/errors.js'

/**
 * The first element of a message tuple. A notice is a request that nobody waits for. A failure answers a request
 * that its actor will not answer: nothing serves that address on this host, or the actor crashed. Broken: the connection between two actors
 * is gone, and with it every request of `to` that `from` has not answered.
 */
export const packetTypes = { request: 0, reply: 1, notice: 2, failure: 3, broken: 4 } as const

/** One of the numbers in {@link packetTypes}. */
export type PacketType = (typeof packetTypes)[keyof typeof packetTypes]

/**
 * One message as it travels: `to` and `from` are numbers of the {@link AddressDirectory}, `kind` is the position in
 * the catalogue, `payload` the values in the order of the exchange's field list. `id` pairs an answer with its
 * request and is 0 for notices. The payload of a failure is `[reason, undelivered, message]`, that of a broken connection `[message]`.
 */
export type MessageTuple = readonly [
  type: PacketType,
  id: number,
  to: number,
  from: number,
  kind: number,
  payload: readonly unknown[],
]

/** The payload of a failure. */
export type FailurePayload = readonly [reason: RequestFailure, undelivered: boolean, message: string]

/** A packet where it was written: `bytes` from `start` to `end`, exclusive. Others may be before and behind it. */
export class Packet {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** That of `bytes`, which begins with it: to ask for it costs more than to keep it. */
  readonly buffer: ArrayBuffer
  readonly start: number
  readonly end: number

  constructor(bytes: Uint8Array<ArrayBuffer>, buffer: ArrayBuffer, start: number, end: number) {
    this.bytes = bytes
    this.buffer = buffer
    this.start = start
    this.end = end
  }
}

/** A value that does not belong in a message: the sender's broken invariant. */
export class UnpackableValueError extends Error {
  constructor(path: string, what: string) {
    super(`${path}: ${what} cannot travel in a message`)
    this.name = 'UnpackableValueError'
  }
}
