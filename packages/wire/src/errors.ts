import { ErrorCodes, errorCodeName, type ErrorCodeName } from '@shardlab/bson'

/**
 * The peer violates the protocol: its connection must be closed without an answer, except for
 * {@link ProtocolError.closingBytes}. The only error that readers and decoders of this package
 * throw.
 */
export class ProtocolError extends Error {
  readonly code: number
  readonly codeName: string
  /** Sent before the connection is closed, for HTTP clients; null: none. */
  readonly closingBytes: Uint8Array | null

  constructor(code: number | ErrorCodeName, message: string, closingBytes: Uint8Array | null = null) {
    super(message)
    this.name = 'ProtocolError'
    this.code = typeof code === 'number' ? code : ErrorCodes[code]
    this.codeName = errorCodeName(this.code)
    this.closingBytes = closingBytes
  }
}
