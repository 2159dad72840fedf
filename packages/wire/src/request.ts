export interface ReplyFormat {
  readonly responseTo: number
  /** Reply with OP_REPLY, because the request was an OP_QUERY or OP_GET_MORE. */
  readonly legacy: boolean
  /** `responseFlags` of the OP_REPLY. */
  readonly legacyFlags: number
  readonly checksum: boolean
  /** The compressor of the request; null: uncompressed. */
  readonly compressorId: number | null
  /** Another reply follows without a request. For OP_MSG only. Default false. */
  readonly moreToCome?: boolean
}

/** A kind-1 section. */
export type DocumentSequence = readonly [identifier: string, documents: readonly Uint8Array[]]

/** Documents are views of the frame or of the uncompressed message: copy those that outlive it. */
export interface CommandRequest {
  readonly kind: 'command'
  readonly format: ReplyFormat
  /** With `$db`. Commands of OP_QUERY get `$db` and their read preference as on the server. */
  readonly body: Uint8Array
  readonly sequences: readonly DocumentSequence[]
  /** The client expects no reply. */
  readonly moreToCome: boolean
  /** The client accepts a stream of replies. */
  readonly exhaustAllowed: boolean
}

/** Answered with an error without running a command. */
export interface InvalidRequest {
  readonly kind: 'invalid'
  readonly format: ReplyFormat
  readonly reply: Uint8Array
  /** The client expects no reply, not even this one. */
  readonly moreToCome: boolean
}

export type WireRequest = CommandRequest | InvalidRequest
