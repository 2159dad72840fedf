/** One number for all hosts, in shared memory, which can be posted to a worker. */
export type StrikeCount = SharedArrayBuffer

export function createStrikeCount(): StrikeCount {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
}

/**
 * @param times the limit; null: none
 * @returns false when the fault has struck that often already
 */
export function countStrike(count: StrikeCount, times: number | null): boolean {
  const strikes = new Int32Array(count)
  for (let struck = Atomics.load(strikes, 0); ;) {
    if (times !== null && struck >= times) return false
    const found = Atomics.compareExchange(strikes, 0, struck, struck + 1)
    if (found === struck) return true
    struck = found
  }
}

export function strikesOf(count: StrikeCount): number {
  return Atomics.load(new Int32Array(count), 0)
}
