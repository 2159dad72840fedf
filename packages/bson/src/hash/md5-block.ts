/**
 * MD5 (RFC 1321) of a message that fits in one block, as almost every hashed shard key does. A
 * shard hashes each document that it checks for ownership. The library takes several times as long,
 * since it creates a hasher, views and a digest for each message.
 */

/** A block less the padding's first byte and the length. */
export const blockMessageBytesMax = 55

const startA = 0x67452301
const startB = 0xefcdab89 | 0
const startC = 0x98badcfe | 0
const startD = 0x10325476

/**
 * Writes the first 8 of the digest's 16 bytes. `length` is at most {@link blockMessageBytesMax};
 * the rest of the 64-byte block is overwritten.
 */
export function md5HalfOfBlock(block: Uint8Array, length: number, to: Uint8Array, at: number): void {
  block.fill(0, length, 64)
  block[length] = 0x80
  const w0 = wordAt(block, 0)
  const w1 = wordAt(block, 4)
  const w2 = wordAt(block, 8)
  const w3 = wordAt(block, 12)
  const w4 = wordAt(block, 16)
  const w5 = wordAt(block, 20)
  const w6 = wordAt(block, 24)
  const w7 = wordAt(block, 28)
  const w8 = wordAt(block, 32)
  const w9 = wordAt(block, 36)
  const w10 = wordAt(block, 40)
  const w11 = wordAt(block, 44)
  const w12 = wordAt(block, 48)
  const w13 = wordAt(block, 52)
  const w14 = length << 3
  const w15 = 0
  let a = startA
  let b = startB
  let c = startC
  let d = startD
  let sum: number
  // Unrolled: loops take twice as long. A function per step is slower still, since it is not always
  // inlined.
  sum = (a + ((b & c) | (~b & d)) + w0 - 0x28955b88) | 0
  a = (b + ((sum << 7) | (sum >>> 25))) | 0
  sum = (d + ((a & b) | (~a & c)) + w1 - 0x173848aa) | 0
  d = (a + ((sum << 12) | (sum >>> 20))) | 0
  sum = (c + ((d & a) | (~d & b)) + w2 + 0x242070db) | 0
  c = (d + ((sum << 17) | (sum >>> 15))) | 0
  sum = (b + ((c & d) | (~c & a)) + w3 - 0x3e423112) | 0
  b = (c + ((sum << 22) | (sum >>> 10))) | 0
  sum = (a + ((b & c) | (~b & d)) + w4 - 0xa83f051) | 0
  a = (b + ((sum << 7) | (sum >>> 25))) | 0
  sum = (d + ((a & b) | (~a & c)) + w5 + 0x4787c62a) | 0
  d = (a + ((sum << 12) | (sum >>> 20))) | 0
  sum = (c + ((d & a) | (~d & b)) + w6 - 0x57cfb9ed) | 0
  c = (d + ((sum << 17) | (sum >>> 15))) | 0
  sum = (b + ((c & d) | (~c & a)) + w7 - 0x2b96aff) | 0
  b = (c + ((sum << 22) | (sum >>> 10))) | 0
  sum = (a + ((b & c) | (~b & d)) + w8 + 0x698098d8) | 0
  a = (b + ((sum << 7) | (sum >>> 25))) | 0
  sum = (d + ((a & b) | (~a & c)) + w9 - 0x74bb0851) | 0
  d = (a + ((sum << 12) | (sum >>> 20))) | 0
  sum = (c + ((d & a) | (~d & b)) + w10 - 0xa44f) | 0
  c = (d + ((sum << 17) | (sum >>> 15))) | 0
  sum = (b + ((c & d) | (~c & a)) + w11 - 0x76a32842) | 0
  b = (c + ((sum << 22) | (sum >>> 10))) | 0
  sum = (a + ((b & c) | (~b & d)) + w12 + 0x6b901122) | 0
  a = (b + ((sum << 7) | (sum >>> 25))) | 0
  sum = (d + ((a & b) | (~a & c)) + w13 - 0x2678e6d) | 0
  d = (a + ((sum << 12) | (sum >>> 20))) | 0
  sum = (c + ((d & a) | (~d & b)) + w14 - 0x5986bc72) | 0
  c = (d + ((sum << 17) | (sum >>> 15))) | 0
  sum = (b + ((c & d) | (~c & a)) + w15 + 0x49b40821) | 0
  b = (c + ((sum << 22) | (sum >>> 10))) | 0
  sum = (a + ((d & b) | (~d & c)) + w1 - 0x9e1da9e) | 0
  a = (b + ((sum << 5) | (sum >>> 27))) | 0
  sum = (d + ((c & a) | (~c & b)) + w6 - 0x3fbf4cc0) | 0
  d = (a + ((sum << 9) | (sum >>> 23))) | 0
  sum = (c + ((b & d) | (~b & a)) + w11 + 0x265e5a51) | 0
  c = (d + ((sum << 14) | (sum >>> 18))) | 0
  sum = (b + ((a & c) | (~a & d)) + w0 - 0x16493856) | 0
  b = (c + ((sum << 20) | (sum >>> 12))) | 0
  sum = (a + ((d & b) | (~d & c)) + w5 - 0x29d0efa3) | 0
  a = (b + ((sum << 5) | (sum >>> 27))) | 0
  sum = (d + ((c & a) | (~c & b)) + w10 + 0x2441453) | 0
  d = (a + ((sum << 9) | (sum >>> 23))) | 0
  sum = (c + ((b & d) | (~b & a)) + w15 - 0x275e197f) | 0
  c = (d + ((sum << 14) | (sum >>> 18))) | 0
  sum = (b + ((a & c) | (~a & d)) + w4 - 0x182c0438) | 0
  b = (c + ((sum << 20) | (sum >>> 12))) | 0
  sum = (a + ((d & b) | (~d & c)) + w9 + 0x21e1cde6) | 0
  a = (b + ((sum << 5) | (sum >>> 27))) | 0
  sum = (d + ((c & a) | (~c & b)) + w14 - 0x3cc8f82a) | 0
  d = (a + ((sum << 9) | (sum >>> 23))) | 0
  sum = (c + ((b & d) | (~b & a)) + w3 - 0xb2af279) | 0
  c = (d + ((sum << 14) | (sum >>> 18))) | 0
  sum = (b + ((a & c) | (~a & d)) + w8 + 0x455a14ed) | 0
  b = (c + ((sum << 20) | (sum >>> 12))) | 0
  sum = (a + ((d & b) | (~d & c)) + w13 - 0x561c16fb) | 0
  a = (b + ((sum << 5) | (sum >>> 27))) | 0
  sum = (d + ((c & a) | (~c & b)) + w2 - 0x3105c08) | 0
  d = (a + ((sum << 9) | (sum >>> 23))) | 0
  sum = (c + ((b & d) | (~b & a)) + w7 + 0x676f02d9) | 0
  c = (d + ((sum << 14) | (sum >>> 18))) | 0
  sum = (b + ((a & c) | (~a & d)) + w12 - 0x72d5b376) | 0
  b = (c + ((sum << 20) | (sum >>> 12))) | 0
  sum = (a + (b ^ c ^ d) + w5 - 0x5c6be) | 0
  a = (b + ((sum << 4) | (sum >>> 28))) | 0
  sum = (d + (a ^ b ^ c) + w8 - 0x788e097f) | 0
  d = (a + ((sum << 11) | (sum >>> 21))) | 0
  sum = (c + (d ^ a ^ b) + w11 + 0x6d9d6122) | 0
  c = (d + ((sum << 16) | (sum >>> 16))) | 0
  sum = (b + (c ^ d ^ a) + w14 - 0x21ac7f4) | 0
  b = (c + ((sum << 23) | (sum >>> 9))) | 0
  sum = (a + (b ^ c ^ d) + w1 - 0x5b4115bc) | 0
  a = (b + ((sum << 4) | (sum >>> 28))) | 0
  sum = (d + (a ^ b ^ c) + w4 + 0x4bdecfa9) | 0
  d = (a + ((sum << 11) | (sum >>> 21))) | 0
  sum = (c + (d ^ a ^ b) + w7 - 0x944b4a0) | 0
  c = (d + ((sum << 16) | (sum >>> 16))) | 0
  sum = (b + (c ^ d ^ a) + w10 - 0x41404390) | 0
  b = (c + ((sum << 23) | (sum >>> 9))) | 0
  sum = (a + (b ^ c ^ d) + w13 + 0x289b7ec6) | 0
  a = (b + ((sum << 4) | (sum >>> 28))) | 0
  sum = (d + (a ^ b ^ c) + w0 - 0x155ed806) | 0
  d = (a + ((sum << 11) | (sum >>> 21))) | 0
  sum = (c + (d ^ a ^ b) + w3 - 0x2b10cf7b) | 0
  c = (d + ((sum << 16) | (sum >>> 16))) | 0
  sum = (b + (c ^ d ^ a) + w6 + 0x4881d05) | 0
  b = (c + ((sum << 23) | (sum >>> 9))) | 0
  sum = (a + (b ^ c ^ d) + w9 - 0x262b2fc7) | 0
  a = (b + ((sum << 4) | (sum >>> 28))) | 0
  sum = (d + (a ^ b ^ c) + w12 - 0x1924661b) | 0
  d = (a + ((sum << 11) | (sum >>> 21))) | 0
  sum = (c + (d ^ a ^ b) + w15 + 0x1fa27cf8) | 0
  c = (d + ((sum << 16) | (sum >>> 16))) | 0
  sum = (b + (c ^ d ^ a) + w2 - 0x3b53a99b) | 0
  b = (c + ((sum << 23) | (sum >>> 9))) | 0
  sum = (a + (c ^ (b | ~d)) + w0 - 0xbd6ddbc) | 0
  a = (b + ((sum << 6) | (sum >>> 26))) | 0
  sum = (d + (b ^ (a | ~c)) + w7 + 0x432aff97) | 0
  d = (a + ((sum << 10) | (sum >>> 22))) | 0
  sum = (c + (a ^ (d | ~b)) + w14 - 0x546bdc59) | 0
  c = (d + ((sum << 15) | (sum >>> 17))) | 0
  sum = (b + (d ^ (c | ~a)) + w5 - 0x36c5fc7) | 0
  b = (c + ((sum << 21) | (sum >>> 11))) | 0
  sum = (a + (c ^ (b | ~d)) + w12 + 0x655b59c3) | 0
  a = (b + ((sum << 6) | (sum >>> 26))) | 0
  sum = (d + (b ^ (a | ~c)) + w3 - 0x70f3336e) | 0
  d = (a + ((sum << 10) | (sum >>> 22))) | 0
  sum = (c + (a ^ (d | ~b)) + w10 - 0x100b83) | 0
  c = (d + ((sum << 15) | (sum >>> 17))) | 0
  sum = (b + (d ^ (c | ~a)) + w1 - 0x7a7ba22f) | 0
  b = (c + ((sum << 21) | (sum >>> 11))) | 0
  sum = (a + (c ^ (b | ~d)) + w8 + 0x6fa87e4f) | 0
  a = (b + ((sum << 6) | (sum >>> 26))) | 0
  sum = (d + (b ^ (a | ~c)) + w15 - 0x1d31920) | 0
  d = (a + ((sum << 10) | (sum >>> 22))) | 0
  sum = (c + (a ^ (d | ~b)) + w6 - 0x5cfebcec) | 0
  c = (d + ((sum << 15) | (sum >>> 17))) | 0
  sum = (b + (d ^ (c | ~a)) + w13 + 0x4e0811a1) | 0
  b = (c + ((sum << 21) | (sum >>> 11))) | 0
  sum = (a + (c ^ (b | ~d)) + w4 - 0x8ac817e) | 0
  a = (b + ((sum << 6) | (sum >>> 26))) | 0
  sum = (d + (b ^ (a | ~c)) + w11 - 0x42c50dcb) | 0
  d = (a + ((sum << 10) | (sum >>> 22))) | 0
  sum = (c + (a ^ (d | ~b)) + w2 + 0x2ad7d2bb) | 0
  c = (d + ((sum << 15) | (sum >>> 17))) | 0
  sum = (b + (d ^ (c | ~a)) + w9 - 0x14792c6f) | 0
  b = (c + ((sum << 21) | (sum >>> 11))) | 0
  writeWord(to, at, a + startA)
  writeWord(to, at + 4, b + startB)
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word
  bytes[at + 1] = word >> 8
  bytes[at + 2] = word >> 16
  bytes[at + 3] = word >> 24
}
