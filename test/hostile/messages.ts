/** Messages byte by byte, so that any part of them can be wrong. */
import { BSON, type Document } from 'mongodb'
import { checksumOf } from './checksum.js'

export const Op = {
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

export const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value | 0)
  return bytes
}

export const cstring = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1')

export const document = (value: Document): Buffer => Buffer.from(BSON.serialize(value))

export function message(requestId: number, opcode: number, ...payload: Uint8Array[]): Buffer {
  const bytes = Buffer.concat([int32(0), int32(requestId), int32(0), int32(opcode), ...payload])
  bytes.writeInt32LE(bytes.length)
  return bytes
}

export function msg(requestId: number, flags: number, ...sections: Uint8Array[]): Buffer {
  return message(requestId, Op.msg, int32(flags), ...sections)
}

/** With a checksum, which `change` can make wrong. */
export function checkedMsg(requestId: number, flags: number, sections: readonly Uint8Array[], change = 0): Buffer {
  const bytes = msg(requestId, flags | 1, ...sections, int32(0))
  bytes.writeInt32LE((checksumOf(bytes.subarray(0, -4)) ^ change) | 0, bytes.length - 4)
  return bytes
}

export const bodySection = (body: Uint8Array): Buffer => Buffer.concat([Buffer.of(0), body])

/** `sizeChange`: by how much the size of the section is wrong. */
export function sequenceSection(name: string, documents: readonly Uint8Array[], sizeChange = 0): Buffer {
  const content = Buffer.concat([cstring(name), ...documents])
  return Buffer.concat([Buffer.of(1), int32(content.length + 4 + sizeChange), content])
}

export interface QueryParts {
  readonly flags?: number
  readonly numberToReturn?: number
}

export function query(
  requestId: number,
  ns: string,
  content: Uint8Array,
  { flags = 0, numberToReturn = -1 }: QueryParts = {},
): Buffer {
  return message(requestId, Op.query, int32(flags), cstring(ns), int32(0), int32(numberToReturn), content)
}

export interface CompressedParts {
  readonly opcode?: number
  /** The size that the message claims. */
  readonly size: number
  readonly compressor: number
}

export function compressed(
  requestId: number,
  { opcode = Op.msg, size, compressor }: CompressedParts,
  content: Uint8Array,
): Buffer {
  return message(requestId, Op.compressed, int32(opcode), int32(size), Buffer.of(compressor), content)
}

/** One field: type, name and value. */
export const field = (type: number, name: string, ...value: Uint8Array[]): Buffer =>
  Buffer.concat([Buffer.of(type), cstring(name), ...value])

/** A document of fields. `size`: instead of its real one. */
export function rawDocument(fields: readonly Uint8Array[], size?: number): Buffer {
  const bytes = Buffer.concat([int32(0), ...fields, Buffer.of(0)])
  bytes.writeInt32LE(size ?? bytes.length)
  return bytes
}

export const text = (value: string): Buffer =>
  Buffer.concat([int32(Buffer.byteLength(value) + 1), Buffer.from(`${value}\0`)])

const pingFields = [field(0x10, 'ping', int32(1)), field(0x02, '$db', text('admin'))]

/** A ping with further fields. */
export const ping = (...further: Uint8Array[]): Buffer => rawDocument([pingFields[0]!, ...further, pingFields[1]!])
