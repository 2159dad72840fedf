/**
 * Numbers in the place of keys, for who looks for one of many: numbers lie side by side, strings anywhere, and a search that compares strings
 * waits for each of them.
 */

/**
 * Seven characters of a KeyString from a position on as a number that orders as they do. The last three bits of the seventh are left out: a number
 * holds 53. Keys that begin alike before the position, and have the same number, are to be compared themselves.
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
 * The {@link keyHead} of any key among keys that begin alike with `shared` characters: one that begins in another way is below or above all of
 * them.
 * @param some one of them
 * @param alike with so many characters the key is known to begin as they do
 */
export function keyHeadAmong(some: string, shared: number, key: string, alike = 0): number {
  for (let i = alike; i < shared; i++) {
    if (i >= key.length) return -1
    const difference = key.charCodeAt(i) - some.charCodeAt(i)
    if (difference !== 0) return difference < 0 ? -1 : Infinity
  }
  return keyHead(key, shared)
}

/** With how many characters two keys begin alike. */
export function commonKeyLength(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let common = 0
  while (common < length && a.charCodeAt(common) === b.charCodeAt(common)) common++
  return common
}
