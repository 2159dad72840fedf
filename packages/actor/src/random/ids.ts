import { customRandom, urlAlphabet } from 'nanoid'
import type { Random } from './random.js'

/**
 * Makes the ids that a driver or server would make: 4 bytes of seconds, 5 random bytes that stay the same for
 * one factory, and a 3-byte counter that starts at random and wraps, each big-endian (BSON manual, ObjectId).
 * @returns a function of the clock's milliseconds; 12 bytes, a new array each time.
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

/** The id that the maker of this one would make next, at the same time. */
export function objectIdAfter(id: Uint8Array): Uint8Array {
  const next = new Uint8Array(id)
  for (let at = 11; at >= 9; at--) {
    next[at] = next[at]! + 1
    if (next[at] !== 0) break
  }
  return next
}

/** A random UUID (version 4, RFC 9562 variant) as 16 bytes. */
export function uuidV4(random: Random): Uint8Array {
  const uuid = random.bytes(16)
  uuid[6] = (uuid[6]! & 0x0f) | 0x40
  uuid[8] = (uuid[8]! & 0x3f) | 0x80
  return uuid
}

/** A cursor id: a positive int64, never 0, which on the wire means "no more batches". */
export function cursorId(random: Random): bigint {
  for (;;) {
    const id = (BigInt(random.uint32() & 0x7fff_ffff) << 32n) | BigInt(random.uint32())
    if (id !== 0n) return id
  }
}

/** A maker of text ids over the 64 characters `A-Za-z0-9_-`, 21 characters unless told otherwise. */
export function createTextId(random: Random): (length?: number) => string {
  return customRandom(urlAlphabet, 21, (size) => random.bytes(size))
}
