/**
 * A connection of two hosts over a broker that may lose messages: frames arrive complete and in
 * order, or the link *breaks*, as a TCP connection does. Both ends then begin a new epoch, in which
 * nothing of the old one arrives.
 *
 * Each end numbers the parts of its frames. A part that does not fit, or a statement of the last
 * number, shows that messages were lost. An end that meets a higher epoch than its own joins it.
 */
import { decodeMessage, encodePart, encodeState, partHeadBytes } from './frame-codec.js'

export interface FrameLinkOptions {
  /** Of a message of the broker. */
  readonly messageBytesMax: number
  /** The link breaks when more was sent that the other end has not received. */
  readonly unreceivedBytesMax: number
  /** The message must not be changed. */
  readonly send: (message: Uint8Array) => void
  /** `frame` is the receiver's own. */
  readonly onFrame: (frame: Uint8Array<ArrayBuffer>) => void
  /** A new epoch has begun. Frames of the old one may be lost. */
  readonly onBroken: (why: string) => void
  /** More than `unreceivedBytesMax` are unreceived; {@link onBroken} follows. */
  readonly onLimit: (bytes: number) => void
}

/** The receiver confirms at least so often, so that a busy sender does not wait for a tick. */
const confirmEveryBytes = 4 * 1024 * 1024
const numberMax = 0xffff_ffff

export class FrameLink {
  readonly #options: FrameLinkOptions
  readonly #partBytesMax: number
  #epoch = 1
  #sent = 0
  /** The last number that the other end has confirmed. */
  #confirmed = 0
  readonly #unconfirmed: number[] = []
  #unconfirmedBytes = 0
  #received = 0
  /** The last received number that was told to the other end. */
  #told = 0
  #untoldBytes = 0
  #parts: Uint8Array[] = []
  /** The other end still uses an older epoch. */
  #isAhead = false
  #isClosed = false

  constructor(options: FrameLinkOptions) {
    this.#options = options
    this.#partBytesMax = options.messageBytesMax - partHeadBytes
    if (this.#partBytesMax < 1) throw new RangeError(`messages of ${options.messageBytesMax} bytes are too small`)
  }

  /** `frame` is copied. */
  write(frame: Uint8Array): void {
    if (this.#isClosed) return
    const { unreceivedBytesMax, onLimit } = this.#options
    const bytes = this.#unconfirmedBytes + frame.length
    // One frame may be larger than the limit.
    if (bytes > unreceivedBytesMax && this.#unconfirmedBytes > 0) {
      onLimit(bytes)
      this.#break('the other host received too slowly')
      return
    }
    let left = Math.max(1, Math.ceil(frame.length / this.#partBytesMax))
    if (this.#sent + left > numberMax) return this.#break('the numbers of messages are used up')
    for (let start = 0; left > 0; start += this.#partBytesMax) {
      const part = frame.subarray(start, start + this.#partBytesMax)
      left--
      this.#sent++
      this.#unconfirmed.push(part.length)
      this.#unconfirmedBytes += part.length
      this.#options.send(encodePart({ ...this.#state(), left }, part))
    }
  }

  /** Messages that are no messages of a link are ignored. */
  receive(message: Uint8Array): void {
    const decoded = decodeMessage(message)
    if (decoded === null || this.#isClosed) return
    const { epoch, number, received, left, bytes } = decoded
    if (epoch < this.#epoch) {
      // Once until the next tick: many messages of the old epoch may be under way.
      if (!this.#isAhead) this.#tell()
      this.#isAhead = true
      return
    }
    if (epoch > this.#epoch) this.#join(epoch)
    this.#isAhead = false
    if (received > this.#sent || received < this.#confirmed) return this.#break('messages arrived in a wrong order')
    this.#confirm(received)
    if (number !== this.#received + (bytes === null ? 0 : 1)) return this.#break('messages between the hosts were lost')
    if (bytes !== null) this.#takePart(bytes, left)
  }

  /** Tells the other end what was sent and received. To be called twice a second, or so. */
  tick(): void {
    if (this.#isClosed) return
    if (this.#isAhead || this.#unconfirmed.length > 0 || this.#told !== this.#received) this.#tell()
  }

  /** Without a word to the other end, which ends as well. */
  close(): void {
    this.#isClosed = true
  }

  #state(): { epoch: number; number: number; received: number } {
    this.#told = this.#received
    this.#untoldBytes = 0
    return { epoch: this.#epoch, number: this.#sent, received: this.#received }
  }

  #tell(): void {
    this.#options.send(encodeState(this.#state()))
  }

  #confirm(received: number): void {
    const count = received - this.#confirmed
    this.#confirmed = received
    for (const bytes of this.#unconfirmed.splice(0, count)) this.#unconfirmedBytes -= bytes
  }

  #takePart(bytes: Uint8Array, left: number): void {
    this.#received++
    this.#untoldBytes += bytes.length
    // Copied: members keep views of documents, which would keep a buffer of the broker's client.
    if (left > 0) this.#parts.push(bytes.slice())
    else {
      const frame = this.#parts.length === 0 ? bytes.slice() : joined([...this.#parts, bytes])
      this.#parts = []
      this.#options.onFrame(frame)
    }
    if (this.#untoldBytes >= confirmEveryBytes) this.#tell()
  }

  #break(why: string): void {
    this.#begin(this.#epoch + 1)
    this.#tell()
    this.#options.onBroken(why)
  }

  #join(epoch: number): void {
    const isUsed = this.#sent > 0 || this.#received > 0
    this.#begin(epoch)
    if (isUsed) this.#options.onBroken('the other host has closed the connection')
  }

  #begin(epoch: number): void {
    this.#epoch = epoch
    this.#sent = 0
    this.#confirmed = 0
    this.#unconfirmed.length = 0
    this.#unconfirmedBytes = 0
    this.#received = 0
    this.#told = 0
    this.#untoldBytes = 0
    this.#parts = []
    this.#isAhead = false
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    frame.set(part, at)
    at += part.length
  }
  return frame
}
