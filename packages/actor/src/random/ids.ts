import { customRandom } from 'nanoid'
import type { Random } from './random.js'

/**
 * Makes ObjectIds as drivers and servers do: 4 bytes of seconds, 5 random bytes per factory, and a
 * 3-byte counter that starts at random and wraps, each big-endian (BSON manual, ObjectId).
 * @returns a function of the clock's milliseconds, which returns a new array of 12 bytes
 */
export function createObjectIdFactory(random: Random): (nowMs: number) => Uint8Array {
  const processBytes = random.bytes(5)
  let counter = random.below(0x100_0000)
  return (nowMs) => {
    const id = new Uint8Array(12)
    const seconds = Math.floor(nowMs / 1000)
    id[0] = seconds >>> 24
    id[1] = seconds >>> 16
    id[2] = seconds >>> 8
    id[3] = seconds
    id.set(processBytes, 4)
    id[9] = counter >>> 16
    id[10] = counter >>> 8
    id[11] = counter
    counter = (counter + 1) & 0xff_ffff
    return id
  }
}

/** The id that the same factory would make next in the same second. */
export function objectIdAfter(id: Uint8Array): Uint8Array {
  const next = new Uint8Array(id)
  for (let at = 11; at >= 9; at--) {
    next[at] = next[at]! + 1
    if (next[at] !== 0) break
  }
  return next
}

/** Version 4 of RFC 9562, 16 bytes. */
export function uuidV4(random: Random): Uint8Array {
  const uuid = random.bytes(16)
  uuid[6] = (uuid[6]! & 0x0f) | 0x40
  uuid[8] = (uuid[8]! & 0x3f) | 0x80
  return uuid
}

/** A positive int64, never 0, which means "no more batches" on the wire. */
export function cursorId(random: Random): bigint {
  for (;;) {
    const id = (BigInt(random.uint32() & 0x7fff_ffff) << 32n) | BigInt(random.uint32())
    if (id !== 0n) return id
  }
}

/** Without letters and digits that people confuse. */
const shortIdAlphabet = '23456789abcdefghjkmnpqrstuvwxyz'
const shortIdLength = 8

/** Makes ids that people see and type. */
export function createShortId(random: Pick<Random, 'bytes'>): () => string {
  return customRandom(shortIdAlphabet, shortIdLength, (size) => random.bytes(size))
}
