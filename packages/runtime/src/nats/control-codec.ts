/** Control messages: plain data as msgpack. Sets, maps and undefined arrive as they were sent. */
import { Packr } from 'msgpackr'

const packr = new Packr({ useRecords: false, structuredClone: true })

export function encodeControl(value: unknown): Uint8Array {
  return packr.pack(value)
}

export function decodeControl(bytes: Uint8Array): unknown {
  return packr.unpack(bytes)
}
