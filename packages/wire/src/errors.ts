import { ErrorCodes, errorCodeName, type ErrorCodeName } from '@shardlab/bson'

/**
 * The peer does not speak the protocol: its connection must be closed, nothing is answered (but for
 * {@link ProtocolError.closingBytes}). The only exception that readers and decoders of this package throw.
 */
export class ProtocolError extends Error {
  readonly code: number
  readonly codeName: string
  /** Bytes to send before closing, or null: set when the peer speaks HTTP. */
  readonly closingBytes: Uint8Array | null

  constructor(code: number | ErrorCodeName, message: string, closingBytes: Uint8Array | null = null) {
    super(message)
    this.name = 'ProtocolError'
    this.code = typeof code === 'number' ? code : ErrorCodes[code]
    this.codeName = errorCodeName(this.code)
    this.closingBytes = closingBytes
  }
}
