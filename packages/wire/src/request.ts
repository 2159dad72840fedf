/** The format of the reply to a request. */
export interface ReplyFormat {
  /** The requestID of the request. */
  readonly responseTo: number
  /** Reply with OP_REPLY, because the request was an OP_QUERY or OP_GET_MORE. */
  readonly legacy: boolean
  /** `responseFlags` of the OP_REPLY. */
  readonly legacyFlags: number
  /** Reply with a checksum, because the request had one. */
  readonly checksum: boolean
  /** The compressor of the request, for the reply; null: uncompressed. */
  readonly compressorId: number | null
  /** Set the flag that another reply follows without a request. For OP_MSG only. Default false. */
  readonly moreToCome?: boolean
}

/** A kind-1 section: its identifier and its documents. */
export type DocumentSequence = readonly [identifier: string, documents: readonly Uint8Array[]]

/**
 * A well-formed command. Its documents are views of the frame or of the uncompressed message: copy
 * those that outlive it.
 */
export interface CommandRequest {
  readonly kind: 'command'
  readonly format: ReplyFormat
  /** With `$db`. Commands of OP_QUERY get `$db` and their read preference as on the server. */
  readonly body: Uint8Array
  readonly sequences: readonly DocumentSequence[]
  /** The client expects no reply. */
  readonly moreToCome: boolean
  /** The client accepts a stream of replies. One is enough, except for hello (see the gateway). */
  readonly exhaustAllowed: boolean
}

/** A message that is answered with an error without running a command. */
export interface InvalidRequest {
  readonly kind: 'invalid'
  readonly format: ReplyFormat
  /** The error document. */
  readonly reply: Uint8Array
  /** The client expects no reply, not even this one. */
  readonly moreToCome: boolean
}

export type WireRequest = CommandRequest | InvalidRequest
