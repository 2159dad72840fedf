/**
 * A message kind: its request and its reply, as flat records. In packets both are msgpack arrays in
 * the order of the field lists, so an absent field must be `null`, never `undefined`. Values are
 * strings, safe integers, booleans, null, byte arrays, and arrays of these. Documents and BSON
 * values are byte arrays, never msgpack values (law 4).
 */
export interface Exchange<Request, Reply> {
  readonly requestFields: readonly (keyof Request & string)[]
  readonly replyFields: readonly (keyof Reply & string)[]
  readonly example: { readonly request: Request; readonly reply: Reply }
}

/** The order of the properties in the examples is the order of the fields. */
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

export type Empty = Record<never, never>

export type TimestampPair = readonly [seconds: number, increment: number]

/**
 * The document `{ ok: 0, errmsg, code, codeName, … }` that a client would get; null: no error. The
 * receiver throws it where a client must get it.
 */
export type ErrorField = Uint8Array | null

export const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])
