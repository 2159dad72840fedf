/**
 * Where the hash space is cut into `count` equal parts. Server: ShardKeyPattern / initial_split_policy.cpp,
 * calculateHashedSplitPoints.
 * @returns ascending int64 values, `count - 1` of them
 */
export function hashedSplitPoints(count: number): bigint[] {
  const interval = ((2n ** 63n - 1n) / BigInt(count)) * 2n
  // They lie the same way to both sides of the middle.
  const above: bigint[] = []
  let current = count % 2 === 0 ? interval : interval / 2n
  for (let i = 0; i < Math.floor((count - 1) / 2); i++) {
    above.push(current)
    current += interval
  }
  const points: bigint[] = []
  for (let i = above.length - 1; i >= 0; i--) points.push(-above[i]!)
  if (count % 2 === 0) points.push(0n)
  for (const point of above) points.push(point)
  return points
}
