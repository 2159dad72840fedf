/**
 * The messages of a {@link FrameLink}, as msgpack: `[epoch, number, received, left, bytes]` with a
 * part of a frame, or `[epoch, number, received]` without one. Written by hand, because the content
 * of each packet passes through.
 */
export interface LinkMessage {
  readonly epoch: number
  /** Of the part; without one, of the last part that was sent. */
  readonly number: number
  /** The last part that its sender has received. */
  readonly received: number
  /** Parts of the frame that follow. */
  readonly left: number
  /** null: a message without a part. */
  readonly bytes: Uint8Array | null
}

const uint32Bytes = 5
const binHeadBytes = 5
const headBytes = 1 + 3 * uint32Bytes
export const partHeadBytes = headBytes + uint32Bytes + binHeadBytes

const fixedArray = 0x90
const uint32 = 0xce
const bin32 = 0xc6

/** @param bytes are copied */
export function encodePart(
  { epoch, number, received, left }: Omit<LinkMessage, 'bytes'>,
  bytes: Uint8Array,
): Uint8Array {
  const message = new Uint8Array(partHeadBytes + bytes.length)
  const view = writeHead(message, 5, [epoch, number, received, left])
  view.setUint8(headBytes + uint32Bytes, bin32)
  view.setUint32(headBytes + uint32Bytes + 1, bytes.length)
  message.set(bytes, partHeadBytes)
  return message
}

export function encodeState({ epoch, number, received }: Omit<LinkMessage, 'bytes' | 'left'>): Uint8Array {
  const message = new Uint8Array(headBytes)
  writeHead(message, 3, [epoch, number, received])
  return message
}

function writeHead(message: Uint8Array, length: number, values: readonly number[]): DataView {
  const view = new DataView(message.buffer)
  view.setUint8(0, fixedArray | length)
  values.forEach((value, i) => {
    view.setUint8(1 + i * uint32Bytes, uint32)
    view.setUint32(2 + i * uint32Bytes, value)
  })
  return view
}

/** null: the bytes are not such a message. `bytes` of the result is a view. */
export function decodeMessage(message: Uint8Array): LinkMessage | null {
  if (message.length < headBytes) return null
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  const length = view.getUint8(0) ^ fixedArray
  const values: number[] = []
  const count = length === 5 ? 4 : 3
  if ((length !== 3 && length !== 5) || message.length < (length === 5 ? partHeadBytes : headBytes)) return null
  for (let i = 0; i < count; i++) {
    if (view.getUint8(1 + i * uint32Bytes) !== uint32) return null
    values.push(view.getUint32(2 + i * uint32Bytes))
  }
  const [epoch, number, received, left = 0] = values as [number, number, number, number?]
  if (length === 3) return message.length === headBytes ? { epoch, number, received, left, bytes: null } : null
  if (view.getUint8(headBytes + uint32Bytes) !== bin32) return null
  if (view.getUint32(headBytes + uint32Bytes + 1) !== message.length - partHeadBytes) return null
  return { epoch, number, received, left, bytes: message.subarray(partHeadBytes) }
}
