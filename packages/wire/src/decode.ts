import { CommandError, errorDocument, readInt32 } from '@shardlab/bson'
import { uncompressMessage, type CompressorLookup } from './compression.js'
import { MsgFlag, OpCode, ReplyFlag } from './constants.js'
import { ProtocolError } from './errors.js'
import { checkDatabaseField, msgFlags, readSections } from './op-msg.js'
import { endOfNamespace, readQueryCommand, removedOperationDocument } from './op-query.js'
import type { DocumentSequence, InvalidRequest, ReplyFormat, WireRequest } from './request.js'

const noSequences: readonly DocumentSequence[] = []

/**
 * Reads one complete message from a client. `invalid`: the server answers it with an error.
 * @throws {@link ProtocolError} when the server would close the connection: unknown and removed
 *   opcodes, unknown required flags, a wrong checksum, malformed compression, a namespace that does
 *   not end
 */
export function decodeRequest(frame: Uint8Array, compressors: CompressorLookup): WireRequest {
  let message = frame
  let compressorId: number | null = null
  if (readInt32(frame, 12) === OpCode.compressed) {
    const inner = uncompressMessage(frame, compressors)
    message = inner.message
    compressorId = inner.compressor.id
  }
  const opCode = readInt32(message, 12)
  switch (opCode) {
    case OpCode.msg:
      return decodeMsg(message, compressorId)
    case OpCode.query:
      return decodeQuery(message, compressorId)
    case OpCode.getMore:
      endOfNamespace(message)
      return removedOperation(message, 'OP_GET_MORE', compressorId)
    case OpCode.insert:
      throw new ProtocolError(5745706, 'OP_INSERT is no longer supported')
    case OpCode.update:
      throw new ProtocolError(5745705, 'OP_UPDATE is no longer supported')
    case OpCode.delete:
      throw new ProtocolError(5745704, 'OP_DELETE is no longer supported')
    case OpCode.killCursors:
      throw new ProtocolError(5745707, 'OP_KILL_CURSORS is no longer supported')
    default:
      throw new ProtocolError('IllegalOperation', `Message type ${opCode} is not supported.`)
  }
}

/**
 * The answer to a message that was not read.
 * @param head its first bytes, as {@link FrameReader} returns them
 * @returns null: it cannot be answered, because the rest says whether and how
 */
export function refusedRequest(head: Uint8Array, error: CommandError): InvalidRequest | null {
  if (readInt32(head, 12) !== OpCode.msg) return null
  const flags = msgFlags(head)
  return invalidRequest(error, msgFormat(head, flags, null), (flags & MsgFlag.moreToCome) !== 0)
}

/** As its sender says; null: the message is not compressed. */
export function uncompressedSizeBytes(frame: Uint8Array): number | null {
  return readInt32(frame, 12) === OpCode.compressed && frame.length >= 24 ? readInt32(frame, 20) : null
}

function msgFormat(message: Uint8Array, flags: number, compressorId: number | null): ReplyFormat {
  return {
    responseTo: readInt32(message, 4),
    legacy: false,
    legacyFlags: 0,
    checksum: (flags & MsgFlag.checksumPresent) !== 0,
    compressorId,
  }
}

function decodeMsg(message: Uint8Array, compressorId: number | null): WireRequest {
  const flags = msgFlags(message)
  const format = msgFormat(message, flags, compressorId)
  const moreToCome = (flags & MsgFlag.moreToCome) !== 0
  try {
    const { body, sequences } = readSections(message, flags)
    checkDatabaseField(body)
    return {
      kind: 'command',
      format,
      body,
      sequences,
      moreToCome,
      exhaustAllowed: (flags & MsgFlag.exhaustAllowed) !== 0,
    }
  } catch (error) {
    return invalidRequest(error, format, moreToCome)
  }
}

function decodeQuery(message: Uint8Array, compressorId: number | null): WireRequest {
  const format = legacyFormat(message, ReplyFlag.awaitCapable, compressorId)
  try {
    const body = readQueryCommand(message)
    if (body === null) return removedOperation(message, 'OP_QUERY', compressorId)
    return { kind: 'command', format, body, sequences: noSequences, moreToCome: false, exhaustAllowed: false }
  } catch (error) {
    return invalidRequest(error, format, false)
  }
}

function removedOperation(
  message: Uint8Array,
  operation: 'OP_QUERY' | 'OP_GET_MORE',
  compressorId: number | null,
): WireRequest {
  const format = legacyFormat(message, ReplyFlag.errSet, compressorId)
  return { kind: 'invalid', format, reply: removedOperationDocument(operation), moreToCome: false }
}

function legacyFormat(message: Uint8Array, legacyFlags: number, compressorId: number | null): ReplyFormat {
  return { responseTo: readInt32(message, 4), legacy: true, legacyFlags, checksum: false, compressorId }
}

function invalidRequest(error: unknown, format: ReplyFormat, moreToCome: boolean): InvalidRequest {
  if (!(error instanceof CommandError)) throw error
  return { kind: 'invalid', format, reply: errorDocument(error), moreToCome }
}
