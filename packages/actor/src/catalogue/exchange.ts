/**
 * A message kind: what is asked and what is answered, as flat records. On the wire both are msgpack arrays in
 * the order of the field lists, so a field that is absent must be `null`, never `undefined`. Values are
 * strings, safe integers, booleans, null, byte arrays, and arrays of these. Documents and BSON values are
 * byte arrays: they never travel as msgpack values.
 */
export interface Exchange<Request, Reply> {
  readonly requestFields: readonly (keyof Request & string)[]
  readonly replyFields: readonly (keyof Reply & string)[]
  /** Serves tests (every kind round-trips) and the reader. */
  readonly example: { readonly request: Request; readonly reply: Reply }
}

/** Declares an exchange; the field order is that of the example's properties. */
export function exchange<Request extends object, Reply extends object>(
  request: Request,
  reply: Reply,
): Exchange<Request, Reply> {
  return {
    requestFields: Object.keys(request) as (keyof Request & string)[],
    replyFields: Object.keys(reply) as (keyof Reply & string)[],
    example: { request, reply },
  }
}

/** An answer with nothing in it. */
export type Empty = Record<never, never>

/** `[seconds, increment]`: a BSON timestamp, cluster time among them. */
export type TimestampPair = readonly [seconds: number, increment: number]

/**
 * An error as data: the document `{ ok: 0, errmsg, code, codeName, … }` that a client would get, or null.
 * The receiver raises it where a client is to see it.
 */
export type ErrorField = Uint8Array | null

/** The empty BSON document, for examples. */
export const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])
