/** The client's side of the protocol, for tests, benches and load generators. */
import { CommandError, readInt32, writeInt32 } from '@shardlab/bson'
import { compressMessage, uncompressMessage, type Compressor, type CompressorLookup } from './compression.js'
import { messageHeaderSize, MsgFlag, OpCode } from './constants.js'
import { crc32c } from './crc32c.js'
import { checkDocument } from './document-check.js'
import { ProtocolError } from './errors.js'
import { msgFlags, readSections } from './op-msg.js'
import type { DocumentSequence } from './request.js'

export interface EncodeCommandOptions {
  readonly sequences?: readonly DocumentSequence[]
  readonly flags?: number
  readonly checksum?: boolean
  /** Not allowed for handshakes, see `isCompressible`. */
  readonly compressor?: Compressor
}

/** Encodes an OP_MSG. The body must have `$db`. */
export function encodeCommand(requestId: number, body: Uint8Array, options: EncodeCommandOptions = {}): Uint8Array {
  const sequences = options.sequences ?? []
  const checksum = options.checksum ?? false
  let size = 21 + body.length + (checksum ? 4 : 0)
  const sequenceSizes = sequences.map(([identifier, documents]) => {
    const bytes = 4 + Buffer.byteLength(identifier) + 1 + documents.reduce((sum, document) => sum + document.length, 0)
    size += 1 + bytes
    return bytes
  })
  const message = Buffer.allocUnsafe(size)
  writeHeader(message, requestId, OpCode.msg)
  writeInt32(message, 16, (options.flags ?? 0) | (checksum ? MsgFlag.checksumPresent : 0))
  message[20] = 0
  message.set(body, 21)
  let at = 21 + body.length
  sequences.forEach(([identifier, documents], index) => {
    message[at] = 1
    writeInt32(message, at + 1, sequenceSizes[index]!)
    at += 5
    at += message.write(identifier, at)
    message[at++] = 0
    for (const document of documents) {
      message.set(document, at)
      at += document.length
    }
  })
  if (checksum) writeInt32(message, at, crc32c(message, 0, at))
  return options.compressor === undefined ? message : compressMessage(message, options.compressor)
}

/** Encodes an OP_QUERY on `db.$cmd`, the handshake of old drivers. The body must not have `$db`. */
export function encodeLegacyCommand(requestId: number, db: string, body: Uint8Array, flags = 0): Uint8Array {
  const ns = Buffer.from(`${db}.$cmd\0`)
  const message = Buffer.alloc(messageHeaderSize + 4 + ns.length + 8 + body.length)
  writeHeader(message, requestId, OpCode.query)
  writeInt32(message, 16, flags)
  message.set(ns, 20)
  writeInt32(message, 20 + ns.length + 4, -1)
  message.set(body, 28 + ns.length)
  return message
}

/** The body is a view of the frame, or of the uncompressed message. */
export interface DecodedReply {
  readonly responseTo: number
  readonly requestId: number
  readonly body: Uint8Array
  /** An OP_REPLY. */
  readonly legacy: boolean
  /** `flagBits` of OP_MSG or `responseFlags` of OP_REPLY. */
  readonly flags: number
  readonly compressed: boolean
}

/** @throws {@link ProtocolError} when the reply is malformed */
export function decodeReply(frame: Uint8Array, compressors: CompressorLookup = () => undefined): DecodedReply {
  const compressed = readInt32(frame, 12) === OpCode.compressed
  const message = compressed ? uncompressMessage(frame, compressors).message : frame
  const requestId = readInt32(message, 4)
  const responseTo = readInt32(message, 8)
  try {
    switch (readInt32(message, 12)) {
      case OpCode.msg: {
        const flags = msgFlags(message)
        return { requestId, responseTo, body: readSections(message, flags).body, legacy: false, flags, compressed }
      }
      case OpCode.reply: {
        const body = message.subarray(36, checkDocument(message, 36, message.length))
        return { requestId, responseTo, body, legacy: true, flags: readInt32(message, 16), compressed }
      }
      default:
        throw new ProtocolError(
          'IllegalOperation',
          `Received a reply message with unexpected opcode: ${readInt32(message, 12)}`,
        )
    }
  } catch (error) {
    if (error instanceof CommandError) throw new ProtocolError('ProtocolError', error.message)
    throw error
  }
}

function writeHeader(message: Uint8Array, requestId: number, opCode: number): void {
  writeInt32(message, 0, message.length)
  writeInt32(message, 4, requestId)
  writeInt32(message, 8, 0)
  writeInt32(message, 12, opCode)
}
