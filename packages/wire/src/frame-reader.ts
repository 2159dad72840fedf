import { readInt32 } from '@shardlab/bson'
import { maxMessageSizeBytes, messageHeaderSize } from './constants.js'
import { ProtocolError } from './errors.js'
import { httpGreeting, httpReply } from './http.js'

/** The header and the flags of an OP_MSG. */
const refusedHeadBytes = 20
/**
 * The first allocation for a message that arrives in several chunks. It is admitted in parts: this
 * much, then twice as much each time.
 */
const firstCapacityBytes = 4096
/**
 * Few and large steps leave little garbage. Memory that was allocated and never written is not
 * resident.
 */
const growthFactor = 64
/**
 * Splits a stream of bytes into messages:
 * `reader.push(chunk); for (let frame; (frame = reader.next()); ) …`.
 *
 * A message within one chunk is returned as a view of it. A message in pieces is gathered in an
 * array that grows with the bytes that have arrived, not with the length in the header. The reader
 * never writes to chunks, nor to messages that it has returned.
 *
 * A message that `admits` refuses is skipped: {@link FrameReader.next} returns its first
 * {@link refusedHeadBytes} bytes when all of it has arrived.
 */
export class FrameReader {
  readonly #admits: ((bytes: number) => boolean) | null
  /** Of the message that arrives. */
  #admittedBytes = 0
  #refused: RefusedFrame | null = null
  /** Whether the message that {@link next} returned last was refused. */
  isRefused = false
  /** The unread bytes are `#chunk[#at, end)`, then the waiting chunks. */
  #chunk: Uint8Array = emptyChunk
  #at = 0
  readonly #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #partial: Buffer | null = null
  #partialLength = 0

  /**
   * @param admits called with the further bytes of a message, before they are gathered; null: all
   *   are admitted
   */
  constructor(admits: ((bytes: number) => boolean) | null = null) {
    this.#admits = admits
  }

  get bufferedBytes(): number {
    return this.#chunk.length - this.#at + this.#waitingBytes + this.#partialLength
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    if (this.#at === this.#chunk.length && this.#waiting.length === 0) {
      this.#chunk = chunk
      this.#at = 0
    } else {
      this.#waiting.push(chunk)
      this.#waitingBytes += chunk.length
    }
  }

  /**
   * A message with its header; null: more bytes are needed.
   * @throws {@link ProtocolError} 17 for a length below 16 or above {@link maxMessageSizeBytes},
   *   after which the stream is unusable
   */
  next(): Uint8Array | null {
    for (;;) {
      if (this.#refused !== null) {
        const head = this.#skip(this.#refused)
        if (head !== null) return head
      } else if (this.#partial === null) {
        const chunk = this.#chunk
        const at = this.#at
        const available = chunk.length - at
        if (available >= 4) {
          const length = checkedLength(readInt32(chunk, at))
          if (this.#refuses(length, Math.min(length, available))) continue
          if (available >= length) {
            this.#at = at + length
            this.#returned(false)
            return at === 0 && available === length ? chunk : chunk.subarray(at, at + length)
          }
        }
        if (available > 0) {
          this.#partial = Buffer.allocUnsafeSlow(Math.max(firstCapacityBytes, available))
          this.#partialLength = 0
        }
      } else {
        const frame = this.#gather(this.#partial)
        if (frame !== null) return frame
      }
      if (this.#at === this.#chunk.length && !this.#advance()) return null
    }
  }

  /** Moves bytes of the current chunk into the gathered message; null: it is incomplete. */
  #gather(partial: Buffer): Uint8Array | null {
    if (this.#partialLength < 4) {
      this.#take(4 - this.#partialLength, firstCapacityBytes)
      if (this.#partialLength < 4) return null
    }
    const length = checkedLength(readInt32(partial, 0))
    if (this.#refuses(length, Math.min(length, this.#partialLength + this.#chunk.length - this.#at))) return null
    this.#take(length - this.#partialLength, length)
    if (this.#partialLength < length) return null
    const frame = this.#partial!.subarray(0, length)
    this.#partial = null
    this.#partialLength = 0
    this.#returned(false)
    return frame
  }

  #returned(isRefused: boolean): void {
    this.#admittedBytes = 0
    this.isRefused = isRefused
  }

  /**
   * @param arrivedBytes of a message of this length; a sender that only announces a long one is
   *   admitted the first part of it
   */
  #refuses(lengthBytes: number, arrivedBytes: number): boolean {
    if (this.#admits === null || arrivedBytes <= this.#admittedBytes) return false
    const wanted = Math.min(lengthBytes, Math.max(arrivedBytes, 2 * this.#admittedBytes, firstCapacityBytes))
    if (this.#admits(wanted - this.#admittedBytes)) {
      this.#admittedBytes = wanted
      return false
    }
    const head = Buffer.alloc(Math.min(lengthBytes, refusedHeadBytes))
    this.#partial?.copy(head, 0, 0, this.#partialLength)
    this.#refused = { head, lengthBytes, skippedBytes: this.#partialLength }
    this.#partial = null
    this.#partialLength = 0
    return true
  }

  /** Null: more bytes are needed. */
  #skip(refused: RefusedFrame): Uint8Array | null {
    const { head, lengthBytes, skippedBytes } = refused
    const count = Math.min(lengthBytes - skippedBytes, this.#chunk.length - this.#at)
    if (skippedBytes < head.length)
      head.set(this.#chunk.subarray(this.#at, this.#at + Math.min(count, head.length - skippedBytes)), skippedBytes)
    this.#at += count
    refused.skippedBytes += count
    if (refused.skippedBytes < lengthBytes) return null
    this.#refused = null
    this.#returned(true)
    return head
  }

  /** @param limit of the allocation: the length of the message */
  #take(wanted: number, limit: number): void {
    const count = Math.min(wanted, this.#chunk.length - this.#at)
    const needed = this.#partialLength + count
    let partial = this.#partial!
    if (needed > partial.length) {
      partial = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, partial.length * growthFactor), limit))
      this.#partial!.copy(partial, 0, 0, this.#partialLength)
      this.#partial = partial
    }
    partial.set(this.#chunk.subarray(this.#at, this.#at + count), this.#partialLength)
    this.#partialLength = needed
    this.#at += count
  }

  #advance(): boolean {
    const chunk = this.#waiting.shift()
    this.#chunk = chunk ?? emptyChunk
    this.#at = 0
    if (chunk === undefined) return false
    this.#waitingBytes -= chunk.length
    return true
  }
}

interface RefusedFrame {
  readonly head: Buffer
  readonly lengthBytes: number
  skippedBytes: number
}

const emptyChunk = new Uint8Array(0)

function checkedLength(length: number): number {
  if (length >= messageHeaderSize && length <= maxMessageSizeBytes) return length
  // The server prints the length as an unsigned 64-bit number.
  const printed = length < 0 ? BigInt.asUintN(64, BigInt(length)) : length
  throw new ProtocolError(
    'ProtocolError',
    `recv(): message msgLen ${printed} is invalid. Min ${messageHeaderSize} Max: ${maxMessageSizeBytes}`,
    length === httpGreeting ? httpReply : null,
  )
}
