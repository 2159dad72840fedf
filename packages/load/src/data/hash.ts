/** All randomness of a load test is a stateless function of seed, number and purpose. */

/** The finaliser of MurmurHash3: a bijection of 32-bit numbers. */
export function mix32(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

export function unmix32(value: number): number {
  let h = value ^ (value >>> 16)
  h = Math.imul(h, 0x7ed1b41d)
  h ^= (h >>> 13) ^ (h >>> 26)
  h = Math.imul(h, 0xa5cb9243)
  return (h ^ (h >>> 16)) >>> 0
}

/** For a number up to 2^53. */
export function hash32(seed: number, n: number, purpose: number): number {
  const high = Math.floor(n / 4294967296)
  return mix32(mix32(mix32(mix32(seed) ^ n) + Math.imul(high + 1, 0x9e3779b1)) ^ Math.imul(purpose + 1, 0x85ebca77))
}

/** A number in [0, 1) with 53 bits. */
export function unit(seed: number, n: number, purpose: number): number {
  const high = hash32(seed, n, purpose)
  const low = mix32(high ^ hash32(seed ^ 0x5bd1e995, n, purpose))
  return ((high >>> 5) * 67108864 + (low >>> 6)) / 9007199254740992
}

/** No two purposes share a number. */
export const purposes = { key: 1, field: 2, limit: 3, shuffle: 4, text: 5, transaction: 100, value: 1000 } as const
