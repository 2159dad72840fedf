/** The largest document that a user may store, in bytes; `hello` announces it. */
export const maxBsonObjectSize = 16_777_216
/** The largest BSON that travels: 16 KiB of headroom for commands that carry a document of the largest size. */
export const maxBsonObjectInternalSize = maxBsonObjectSize + 16 * 1024
/** The largest message including its header, in bytes; `hello` announces it. */
export const maxMessageSizeBytes = 48_000_000
/** The most statements in one write command; `hello` announces it. */
export const maxWriteBatchSize = 100_000

/** Bytes of the header: length, requestID, responseTo, opCode, each an int32. */
export const messageHeaderSize = 16

/** Manual: "MongoDB Wire Protocol". The opcodes from `update` to `killCursors` were removed in 5.1. */
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

/** Flag bits of OP_MSG. Bits 0–15 are required: an unknown one closes the connection. Bits 16–31 are optional. */
export const MsgFlag = {
  checksumPresent: 1 << 0,
  moreToCome: 1 << 1,
  exhaustAllowed: 1 << 16,
} as const

/** Flag bits of OP_QUERY that matter for commands. */
export const QueryFlag = {
  secondaryOk: 1 << 2,
  exhaust: 1 << 6,
} as const

/** Flag bits of OP_REPLY. */
export const ReplyFlag = {
  /** The document is an error of a query: `{ $err, code }`. */
  errSet: 1 << 1,
  /** Always set on replies to commands. */
  awaitCapable: 1 << 3,
} as const
