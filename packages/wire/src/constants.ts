/** The limit of a stored document; `hello` returns it. */
export const maxBsonObjectSize = 16_777_216
/** The limit of BSON in messages: 16 KiB more, for commands with a document of the largest size. */
export const maxBsonObjectInternalSize = maxBsonObjectSize + 16 * 1024
/** The limit of a message with its header; `hello` returns it. */
export const maxMessageSizeBytes = 48_000_000
/** The limit of statements in a write command; `hello` returns it. */
export const maxWriteBatchSize = 100_000

/** length, requestID, responseTo and opCode, each an int32. */
export const messageHeaderSize = 16

/**
 * Manual: "MongoDB Wire Protocol". The opcodes from `update` to `killCursors` were removed in 5.1.
 */
export const OpCode = {
  reply: 1,
  update: 2001,
  insert: 2002,
  query: 2004,
  getMore: 2005,
  delete: 2006,
  killCursors: 2007,
  compressed: 2012,
  msg: 2013,
} as const

/** Bits 0–15 are required: an unknown one closes the connection. Bits 16–31 are optional. */
export const MsgFlag = {
  checksumPresent: 1 << 0,
  moreToCome: 1 << 1,
  exhaustAllowed: 1 << 16,
} as const

/** Only bits that apply to commands. */
export const QueryFlag = {
  secondaryOk: 1 << 2,
  exhaust: 1 << 6,
} as const

export const ReplyFlag = {
  /** The document is an error of a query: `{ $err, code }`. */
  errSet: 1 << 1,
  /** Set in all replies to commands. */
  awaitCapable: 1 << 3,
} as const
