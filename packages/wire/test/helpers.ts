import { writeInt32 } from '@shardlab/bson'
import { CompressorId, type Compressor } from '../src/index.js'

export function message(payloadSize: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(16 + payloadSize, (seed * 31) & 0xff)
  writeInt32(bytes, 0, bytes.length)
  return bytes
}

export const inverting: Compressor = {
  id: CompressorId.snappy,
  compress: (bytes) => Buffer.concat([Buffer.from('inv'), bytes.map((byte) => byte ^ 0xff)]),
  uncompress: (bytes) => {
    if (Buffer.from(bytes.subarray(0, 3)).toString('latin1') !== 'inv') throw new Error('not inverted')
    return bytes.subarray(3).map((byte) => byte ^ 0xff)
  },
}

export const lookup = (id: number): Compressor | undefined => (id === inverting.id ? inverting : undefined)

export function msg(flags: number, ...sections: Uint8Array[]): Buffer {
  const head = Buffer.alloc(20)
  head.writeInt32LE(77, 4)
  head.writeInt32LE(2013, 12)
  head.writeUInt32LE(flags >>> 0, 16)
  const bytes = Buffer.concat([head, ...sections])
  bytes.writeInt32LE(bytes.length)
  return bytes
}

export function kind0(body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0]), body])
}

export function kind1(identifier: string, documents: readonly Uint8Array[], sizeDelta = 0): Buffer {
  const rest = Buffer.concat([Buffer.from(`${identifier}\0`), ...documents])
  const head = Buffer.alloc(5)
  head[0] = 1
  head.writeInt32LE(rest.length + 4 + sizeDelta, 1)
  return Buffer.concat([head, rest])
}

export function raw(opCode: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(16)
  head.writeInt32LE(16 + payload.length)
  head.writeInt32LE(77, 4)
  head.writeInt32LE(opCode, 12)
  return Buffer.concat([head, payload])
}

export function query(ns: string, document: Uint8Array, flags = 0, numberToReturn = -1): Buffer {
  const head = Buffer.alloc(4)
  head.writeInt32LE(flags)
  const numbers = Buffer.alloc(8)
  numbers.writeInt32LE(numberToReturn, 4)
  return raw(2004, Buffer.concat([head, Buffer.from(`${ns}\0`), numbers, document]))
}
