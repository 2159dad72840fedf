/**
 * Splits the hash space into `count` equal parts. Server: initial_split_policy.cpp,
 * calculateHashedSplitPoints.
 * @returns ascending int64 values, `count - 1` of them
 */
export function hashedSplitPoints(count: number): bigint[] {
  return [...eachHashedSplitPoint(count)]
}

/** {@link hashedSplitPoints} one by one: there may be a million. */
export function* eachHashedSplitPoint(count: number): Generator<bigint, void, void> {
  const interval = ((2n ** 63n - 1n) / BigInt(count)) * 2n
  const isEven = count % 2 === 0
  // The points are symmetric about zero.
  const perSide = Math.floor((count - 1) / 2)
  const first = isEven ? interval : interval / 2n
  let point = -first - BigInt(perSide - 1) * interval
  for (let i = 0; i < perSide; i++) {
    yield point
    point += interval
  }
  if (isEven) yield 0n
  point = first
  for (let i = 0; i < perSide; i++) {
    yield point
    point += interval
  }
}
