/**
 * Binary searches use key heads: numbers are contiguous in memory, comparing strings costs a cache
 * miss for each.
 */

/**
 * Seven characters of a KeyString as a number of the same order. A double holds 53 bits, so the
 * last three bits of the seventh character are left out: if heads are equal, compare the keys in
 * full.
 */
export function keyHead(key: string, from: number): number {
  const length = key.length
  if (length >= from + 7) {
    return (
      ((key.charCodeAt(from) << 16) | (key.charCodeAt(from + 1) << 8) | key.charCodeAt(from + 2)) * 0x2000_0000 +
      ((key.charCodeAt(from + 3) << 21) |
        (key.charCodeAt(from + 4) << 13) |
        (key.charCodeAt(from + 5) << 5) |
        (key.charCodeAt(from + 6) >> 3))
    )
  }
  let head = 0
  for (let i = from; i < from + 7; i++) head = head * 256 + (i < length ? key.charCodeAt(i) : 0)
  return Math.floor(head / 8)
}

/**
 * The head after a common prefix. A key without this prefix has -1 (below all of them) or Infinity
 * (above all of them).
 * @param member any key with the prefix
 * @param matched the number of leading characters of `key` that are known to match the prefix
 */
export function keyHeadAmong(member: string, prefixLength: number, key: string, matched = 0): number {
  for (let i = matched; i < prefixLength; i++) {
    if (i >= key.length) return -1
    const difference = key.charCodeAt(i) - member.charCodeAt(i)
    if (difference !== 0) return difference < 0 ? -1 : Infinity
  }
  return keyHead(key, prefixLength)
}

export function commonKeyLength(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let common = 0
  while (common < length && a.charCodeAt(common) === b.charCodeAt(common)) common++
  return common
}
