import fc from 'fast-check'
import t from 'tap'
import { hashedSplitPoints } from '../src/index.js'
import { check } from '@shardlab/bson/testing'

const both = (...values: bigint[]) =>
  values.flatMap((value) => (value === 0n ? [0n] : [value, -value])).sort((a, b) => (a < b ? -1 : 1))

t.test("hashed split points are the server's published values", async (t) => {
  t.same(hashedSplitPoints(1), [])
  t.same(hashedSplitPoints(2), [0n])
  t.same(hashedSplitPoints(3), both(3074457345618258602n))
  t.same(hashedSplitPoints(4), both(0n, 4611686018427387902n))
  t.same(hashedSplitPoints(5), both(1844674407370955161n, 5534023222112865483n))
  t.same(hashedSplitPoints(6), both(0n, 3074457345618258602n, 6148914691236517204n))
  t.same(hashedSplitPoints(7), both(1317624576693539401n, 3952873730080618203n, 6588122883467697005n))
  t.same(hashedSplitPoints(8), both(0n, 2305843009213693950n, 4611686018427387900n, 6917529027641081850n))
  t.same(
    hashedSplitPoints(10),
    both(0n, 1844674407370955160n, 3689348814741910320n, 5534023222112865480n, 7378697629483820640n),
  )
  t.same(hashedSplitPoints(12).slice(-1), [7686143364045646500n])
})

t.test('for any count the points ascend, are symmetric and fit an int64', async () => {
  check(
    fc.property(fc.integer({ min: 1, max: 2000 }), (count) => {
      const points = hashedSplitPoints(count)
      if (points.length !== count - 1) return false
      return points.every(
        (point, i) =>
          point === -points[points.length - 1 - i]! && point < 2n ** 63n && (i === 0 || points[i - 1]! < point),
      )
    }),
    100,
  )
})

/**
 * The rule of initial_split_policy.cpp in another form: equal intervals on both sides of 0 or of
 * the middle interval.
 */
function byRule(count: number): bigint[] {
  const interval = ((2n ** 63n - 1n) / BigInt(count)) * 2n
  const points: bigint[] = []
  for (let i = 1; i < count; i++) {
    // Twice the distance from the middle, in intervals, is an integer.
    const doubled = BigInt(2 * i - count)
    points.push(count % 2 === 0 ? (doubled / 2n) * interval : doubled < 0n ? -distance(-doubled) : distance(doubled))
  }
  function distance(halves: bigint): bigint {
    return interval / 2n + ((halves - 1n) / 2n) * interval
  }
  return points
}

t.test("every count that shardCollection accepts for one shard follows the server's rule", async (t) => {
  for (let count = 1; count <= 8192; count += count < 300 ? 1 : 61)
    t.same(hashedSplitPoints(count), byRule(count), String(count), { bail: true })
  t.same(hashedSplitPoints(8191), byRule(8191))
  t.same(hashedSplitPoints(8192), byRule(8192))
})
