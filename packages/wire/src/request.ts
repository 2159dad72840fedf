/** How the answer to a request has to look. */
export interface ReplyFormat {
  /** requestID of the request. */
  readonly responseTo: number
  /** The request was an OP_QUERY or older: answer with OP_REPLY. */
  readonly legacy: boolean
  /** `responseFlags` of the OP_REPLY. */
  readonly legacyFlags: number
  /** Answer with a checksum, because the request had one. */
  readonly checksum: boolean
  /** Compress the answer as the request was compressed; null: do not. */
  readonly compressorId: number | null
  /** Say that another answer follows without a request. Default false; only for OP_MSG. */
  readonly moreToCome?: boolean
}

/** A kind-1 section: its identifier and its documents. */
export type DocumentSequence = readonly [identifier: string, documents: readonly Uint8Array[]]

/** A well-formed command. Documents are views of the frame (of the uncompressed message): copy what outlives it. */
export interface CommandRequest {
  readonly kind: 'command'
  readonly format: ReplyFormat
  /** With `$db`; commands of OP_QUERY got it, and their read preference, as the server does. */
  readonly body: Uint8Array
  readonly sequences: readonly DocumentSequence[]
  /** The client expects no answer. */
  readonly moreToCome: boolean
  /** The client would take a stream of answers; one is enough, except for hello (see the gateway). */
  readonly exhaustAllowed: boolean
}

/** A message that is answered with an error without running anything. */
export interface InvalidRequest {
  readonly kind: 'invalid'
  readonly format: ReplyFormat
  /** The error document. */
  readonly reply: Uint8Array
  /** The client expects no answer, not even this one. */
  readonly moreToCome: boolean
}

export type WireRequest = CommandRequest | InvalidRequest
