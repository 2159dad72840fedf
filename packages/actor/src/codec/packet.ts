import type { Address } from '../contract/address.js'
import type { RequestFailure } from '../contract/errors.js'
import type { Attachment } from './attachment.js'

/**
 * - `request` has a `reply`, a `notice` has none.
 * - `failure` answers a request that its actor will not answer: the actor is down, it crashed, or
 *   it refuses the request because it is not primary.
 * - `broken`: the connection of two actors broke, so every request of `to` that `from` has not
 *   answered fails.
 */
export const packetTypes = { request: 0, reply: 1, notice: 2, failure: 3, broken: 4 } as const

export type PacketType = (typeof packetTypes)[keyof typeof packetTypes]

/**
 * One message of a packet. `to` and `from` are numbers of the {@link AddressDirectory}, `kind` is
 * the index in the catalogue, `payload` has the values in the order of the exchange's field list.
 * `id` pairs an answer with its request, and is 0 in notices. The payload of a failure is
 * `[reason, undelivered, message]`, with the primary that the actor knows when it refused, or null.
 * That of a broken connection is `[message]`.
 */
export type MessageTuple = readonly [
  type: PacketType,
  id: number,
  to: number,
  from: number,
  kind: number,
  payload: readonly unknown[],
]

export type FailurePayload =
  | readonly [reason: RequestFailure, undelivered: boolean, message: string]
  | readonly [reason: RequestFailure, undelivered: boolean, message: string, primaryHint: Address | null]

export const noAttachments: readonly Attachment[] = []

/** A msgpack extension type. Its four bytes are the position in {@link Packet.attachments}. */
export const attachmentType = 1

/**
 * A packet where it was written: `bytes` from `start` to `end`, exclusive. Other packets may be
 * around it.
 */
export class Packet {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The buffer of `bytes`, at offset 0. A field, because the getter of an array is slower. */
  readonly buffer: ArrayBuffer
  readonly start: number
  readonly end: number
  readonly attachments: readonly Attachment[]

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    buffer: ArrayBuffer,
    start: number,
    end: number,
    attachments: readonly Attachment[],
  ) {
    this.bytes = bytes
    this.buffer = buffer
    this.start = start
    this.end = end
    this.attachments = attachments
  }
}

/** A broken invariant of the sender. */
export class UnpackableValueError extends Error {
  constructor(path: string, what: string) {
    super(`${path}: ${what} cannot travel in a message`)
    this.name = 'UnpackableValueError'
  }
}
