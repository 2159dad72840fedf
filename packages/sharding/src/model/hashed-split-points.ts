/**
 * Where the hash space is cut into `count` equal parts. Server: ShardKeyPattern / initial_split_policy.cpp,
 * calculateHashedSplitPoints.
 * @returns ascending int64 values, `count - 1` of them
 */
export function hashedSplitPoints(count: number): bigint[] {
  const interval = ((2n ** 63n - 1n) / BigInt(count)) * 2n
  const points: bigint[] = []
  let current = 0n
  if (count % 2 === 0) {
    points.push(0n)
    current = interval
  } else {
    current = interval / 2n
  }
  for (let i = 0; i < Math.floor((count - 1) / 2); i++) {
    points.push(current, -current)
    current += interval
  }
  return points.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}
