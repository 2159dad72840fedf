/**
 * MD5 of a message that fits into one block, of which only the first half of the digest is wanted: what almost every hashed shard key
 * is. It is here because the hash is taken of every document that a shard checks for ownership: the library's general way, which makes
 * a hasher, views and a digest for each message, takes several times as long. Algorithm: RFC 1321.
 */

/** Longest message: a block less the padding's first byte and the length. */
export const blockMessageBytesMax = 55

const words = new Int32Array(16)
const sines = Int32Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1))))
const startA = 0x67452301
const startB = 0xefcdab89 | 0
const startC = 0x98badcfe | 0
const startD = 0x10325476

/** Writes the first 8 of the digest's 16 bytes, for the first `length` bytes, at most {@link blockMessageBytesMax}. */
export function md5HalfOfBlock(bytes: Uint8Array, length: number, to: Uint8Array, at: number): void {
  words.fill(0)
  for (let i = 0; i < length; i++) words[i >> 2]! |= bytes[i]! << ((i & 3) << 3)
  words[length >> 2]! |= 0x80 << ((length & 3) << 3)
  words[14] = length << 3
  let a = startA
  let b = startB
  let c = startC
  let d = startD
  // Four steps to a turn, so that the state need not be moved along.
  for (let i = 0; i < 16; i += 4) {
    a = step(b, a + ((b & c) | (~b & d)) + words[i]! + sines[i]!, 7)
    d = step(a, d + ((a & b) | (~a & c)) + words[i + 1]! + sines[i + 1]!, 12)
    c = step(d, c + ((d & a) | (~d & b)) + words[i + 2]! + sines[i + 2]!, 17)
    b = step(c, b + ((c & d) | (~c & a)) + words[i + 3]! + sines[i + 3]!, 22)
  }
  for (let i = 16; i < 32; i += 4) {
    a = step(b, a + ((d & b) | (~d & c)) + words[(5 * i + 1) & 15]! + sines[i]!, 5)
    d = step(a, d + ((c & a) | (~c & b)) + words[(5 * i + 6) & 15]! + sines[i + 1]!, 9)
    c = step(d, c + ((b & d) | (~b & a)) + words[(5 * i + 11) & 15]! + sines[i + 2]!, 14)
    b = step(c, b + ((a & c) | (~a & d)) + words[(5 * i + 16) & 15]! + sines[i + 3]!, 20)
  }
  for (let i = 32; i < 48; i += 4) {
    a = step(b, a + (b ^ c ^ d) + words[(3 * i + 5) & 15]! + sines[i]!, 4)
    d = step(a, d + (a ^ b ^ c) + words[(3 * i + 8) & 15]! + sines[i + 1]!, 11)
    c = step(d, c + (d ^ a ^ b) + words[(3 * i + 11) & 15]! + sines[i + 2]!, 16)
    b = step(c, b + (c ^ d ^ a) + words[(3 * i + 14) & 15]! + sines[i + 3]!, 23)
  }
  for (let i = 48; i < 64; i += 4) {
    a = step(b, a + (c ^ (b | ~d)) + words[(7 * i) & 15]! + sines[i]!, 6)
    d = step(a, d + (b ^ (a | ~c)) + words[(7 * i + 7) & 15]! + sines[i + 1]!, 10)
    c = step(d, c + (a ^ (d | ~b)) + words[(7 * i + 14) & 15]! + sines[i + 2]!, 15)
    b = step(c, b + (d ^ (c | ~a)) + words[(7 * i + 21) & 15]! + sines[i + 3]!, 21)
  }
  writeWord(to, at, a + startA)
  writeWord(to, at + 4, b + startB)
}

/** `sum` turned left by that many bits, and added. */
function step(to: number, sum: number, bits: number): number {
  return (to + ((sum << bits) | ((sum | 0) >>> (32 - bits)))) | 0
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word
  bytes[at + 1] = word >> 8
  bytes[at + 2] = word >> 16
  bytes[at + 3] = word >> 24
}
