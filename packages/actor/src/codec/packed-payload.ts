/** Payloads of the kinds that are not hot: msgpackr writes and reads them. */
import { Packr, Unpackr } from 'msgpackr'

// With `useRecords: false` a payload is readable without earlier ones.
const packr = new Packr({ useRecords: false })
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, copyBuffers: false })

/**
 * A view on memory that the next call may reuse.
 * @param payload without values that {@link refusalOf} refuses
 */
export function packPayload(payload: readonly unknown[]): Uint8Array {
  return packr.pack(payload)
}

export interface ReadPayload {
  readonly payload: readonly unknown[]
  readonly lengthBytes: number
}

/**
 * The payload at the beginning of `bytes`; byte arrays in it are views.
 * @throws Error when the bytes end before the payload, or it is not an array
 */
export function unpackPayload(bytes: Uint8Array): ReadPayload {
  let payload: unknown
  let lengthBytes = 0
  unpackr.unpackMultiple(bytes, (value: unknown, _start, end = 0) => {
    payload = value
    lengthBytes = end
    return false
  })
  if (!Array.isArray(payload)) throw new TypeError('the payload of a message is not an array')
  return { payload, lengthBytes }
}

/** Reads msgpack that our writers do not write. @throws Error when it is invalid */
export function unpackForeign(bytes: Uint8Array): unknown {
  return unpackr.unpack(bytes)
}

/**
 * A description of a value that msgpackr would change silently, as it turns an ObjectId into a
 * string and a Date into a timestamp; null: msgpackr changes nothing.
 */
export function refusalOf(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null
    case 'number':
      return Number.isSafeInteger(value) ? null : `the number ${value}`
    case 'object':
      if (value === null || value instanceof Uint8Array) return null
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) {
          const refusal = refusalOf(value[i])
          if (refusal !== null) return refusal
        }
        return null
      }
      return `an object (${Object.getPrototypeOf(value)?.constructor?.name ?? 'without prototype'})`
    default:
      return `a value of type ${typeof value}`
  }
}
