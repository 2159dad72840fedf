/** The finaliser of MurmurHash3: a bijection that scatters neighbours. */
export function scatter32(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** A bijection of the numbers below `size` that scatters neighbouring ranks. */
export function scatterBelow(size: number): (rank: number) => number {
  let factor = Math.max(1, Math.floor(size * 0.6180339887))
  while (commonDivisor(factor, size) !== 1) factor++
  // Above this size the product is not exact.
  if (size > 2 ** 26) return (rank) => Number((BigInt(rank) * BigInt(factor)) % BigInt(size))
  return (rank) => (rank * factor) % size
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}
