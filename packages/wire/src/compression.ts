import { readInt32, writeInt32 } from '@shardlab/bson'
import { maxMessageSizeBytes, messageHeaderSize, OpCode } from './constants.js'
import { ProtocolError } from './errors.js'

/**
 * zstd (3) is not offered. Servers know a compressor that does nothing (0), which is never offered
 * unless it is configured.
 */
export const CompressorId = { snappy: 1, zlib: 2 } as const

/** This package has no algorithm: the owner of the sockets passes compressors in. */
export interface Compressor {
  readonly id: number
  compress(bytes: Uint8Array): Uint8Array
  /** @throws any error when the bytes are malformed, or their content is longer than `sizeBytes` */
  uncompress(bytes: Uint8Array, sizeBytes: number): Uint8Array
}

/** undefined: not available. */
export type CompressorLookup = (id: number) => Compressor | undefined

const offered: ReadonlySet<string> = new Set(['snappy', 'zlib'])

/**
 * The `compression` field of the reply to a handshake, in the client's order. An empty list is left
 * out there. Server: `MessageCompressorManager::serverNegotiate`.
 */
export function negotiateCompression(requested: readonly string[]): string[] {
  return requested.filter((name) => offered.has(name))
}

const neverCompressed: ReadonlySet<string> = new Set([
  'hello',
  'isMaster',
  'ismaster',
  'saslStart',
  'saslContinue',
  'getnonce',
  'authenticate',
  'createUser',
  'updateUser',
  'copydbSaslStart',
  'copydbgetnonce',
  'copydb',
])

/** Specification "Wire Compression". */
export function isCompressible(commandName: string): boolean {
  return !neverCompressed.has(commandName)
}

const compressionHeaderSize = 9

export function compressMessage(message: Uint8Array, compressor: Compressor): Uint8Array {
  const payload = compressor.compress(message.subarray(messageHeaderSize))
  const length = messageHeaderSize + compressionHeaderSize + payload.length
  // Like the server: a message that would be too long is sent uncompressed.
  if (length > maxMessageSizeBytes) return message
  const wrapped = Buffer.allocUnsafe(length)
  wrapped.set(message.subarray(0, messageHeaderSize))
  writeInt32(wrapped, 0, length)
  writeInt32(wrapped, 12, OpCode.compressed)
  writeInt32(wrapped, 16, readInt32(message, 12))
  writeInt32(wrapped, 20, message.length - messageHeaderSize)
  wrapped[24] = compressor.id
  wrapped.set(payload, 25)
  return wrapped
}

/**
 * `message` has its own header. Server: `MessageCompressorManager::decompressMessage`.
 * @throws {@link ProtocolError} for a malformed frame, for which the server closes the connection
 */
export function uncompressMessage(
  frame: Uint8Array,
  compressors: CompressorLookup,
): { message: Uint8Array; compressor: Compressor } {
  if (frame.length < messageHeaderSize + compressionHeaderSize)
    throw new ProtocolError('BadValue', 'Invalid compressed message header')
  const size = readInt32(frame, 20)
  const compressor = compressors(frame[24]!)
  if (compressor === undefined)
    throw new ProtocolError('InternalError', 'Compression algorithm specified in message is not available')
  if (size < 0 || size + messageHeaderSize > maxMessageSizeBytes) {
    throw new ProtocolError('BadValue', 'Decompressed message would be larger than maximum message size')
  }
  let payload: Uint8Array
  try {
    payload = compressor.uncompress(frame.subarray(25), size)
  } catch (error) {
    throw new ProtocolError(
      'BadValue',
      `Compressed message was invalid or corrupted: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  if (payload.length !== size)
    throw new ProtocolError('BadValue', 'Decompressing message returned less data than expected')
  const message = Buffer.allocUnsafe(messageHeaderSize + size)
  message.set(frame.subarray(0, messageHeaderSize))
  writeInt32(message, 0, message.length)
  writeInt32(message, 12, readInt32(frame, 16))
  message.set(payload, messageHeaderSize)
  return { message, compressor }
}
