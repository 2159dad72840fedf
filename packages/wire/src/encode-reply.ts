import { writeInt32 } from '@shardlab/bson'
import { compressMessage, type Compressor } from './compression.js'
import { MsgFlag, OpCode } from './constants.js'
import { crc32c } from './crc32c.js'
import type { ReplyFormat } from './request.js'

const msgHeadSize = 21
const legacyHeadSize = 36

/** Without compression. */
export function replySizeBytes(format: ReplyFormat, bodySizeBytes: number): number {
  return bodySizeBytes + (format.legacy ? legacyHeadSize : msgHeadSize) + (format.checksum ? 4 : 0)
}

/**
 * Uncompressed. At `at`, {@link replySizeBytes} bytes must be free.
 * @returns the end of the reply
 */
export function writeReply(
  target: Uint8Array,
  at: number,
  format: ReplyFormat,
  requestId: number,
  body: Uint8Array,
): number {
  const size = replySizeBytes(format, body.length)
  const bodyAt = writeReplyHead(target, at, format, requestId, body.length)
  target.set(body, bodyAt)
  const end = at + size
  if (format.checksum) writeInt32(target, end - 4, crc32c(target, at, end - 4))
  return end
}

/** For a caller that sends the document from its own memory. Without checksum. */
export function writeReplyHead(
  target: Uint8Array,
  at: number,
  format: ReplyFormat,
  requestId: number,
  bodySizeBytes: number,
): number {
  writeInt32(target, at, replySizeBytes(format, bodySizeBytes))
  writeInt32(target, at + 4, requestId)
  writeInt32(target, at + 8, format.responseTo)
  if (format.legacy) {
    writeInt32(target, at + 12, OpCode.reply)
    writeInt32(target, at + 16, format.legacyFlags)
    // cursorID (int64) and startingFrom
    target.fill(0, at + 20, at + 32)
    writeInt32(target, at + 32, 1)
    return at + legacyHeadSize
  }
  writeInt32(target, at + 12, OpCode.msg)
  writeInt32(
    target,
    at + 16,
    (format.checksum ? MsgFlag.checksumPresent : 0) | (format.moreToCome === true ? MsgFlag.moreToCome : 0),
  )
  target[at + 20] = 0
  return at + msgHeadSize
}

/** @param compressor of the request (`format.compressorId`); undefined: uncompressed */
export function encodeReply(
  format: ReplyFormat,
  requestId: number,
  body: Uint8Array,
  compressor?: Compressor,
): Uint8Array {
  const message = Buffer.allocUnsafe(replySizeBytes(format, body.length))
  writeReply(message, 0, format, requestId, body)
  return compressor === undefined ? message : compressMessage(message, compressor)
}
