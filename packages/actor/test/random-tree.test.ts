import t from 'tap'
import fc from 'fast-check'
import { createRandom } from '../src/index.js'

function draws(seed: number | string, count = 4): number[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => random.uint32())
}

t.test('golden values: a recorded seed always gives the same draws', async (test) => {
  test.same(draws(1), [2342115361, 2209102551, 2495104008, 74190371])
  const path = createRandom('campaign').fork('member').fork('shard01')
  test.same(
    Array.from({ length: 4 }, () => path.uint32()),
    [3125477295, 3751940608, 440654568, 2211512042],
  )
  test.equal(Buffer.from(createRandom(7).bytes(10)).toString('hex'), '3912022ba5e2da04a1e5')
})

t.test('a number and its text are the same seed, others differ', async (test) => {
  test.same(draws(1), draws('1'))
  const seen = new Set(Array.from({ length: 10_000 }, (_, seed) => draws(seed, 2).join()))
  test.equal(seen.size, 10_000)
})

t.test('forks depend on the path alone', async (test) => {
  const one = createRandom(5)
  const early = one.fork('a')
  one.uint32()
  one.fork('b').uint32()
  const late = one.fork('a')
  test.equal(early.uint32(), late.uint32())
  const labels = ['a', 'b', 'ab', 'ba', '', '\0', '\0\0', 'a\0']
  test.equal(new Set(labels.map((label) => createRandom(5).fork(label).uint32())).size, labels.length)
  test.not(createRandom(5).fork('a').fork('b').uint32(), createRandom(5).fork('ab').uint32())
  test.not(createRandom(5).fork('a').fork('b').uint32(), createRandom(5).fork('b').fork('a').uint32())
})

t.test('below draws every number below its limit, and no other', async (test) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.integer(), (limit, seed) => {
      const draw = createRandom(seed).below(limit)
      return Number.isInteger(draw) && draw >= 0 && draw < limit
    }),
  )
  const random = createRandom(1)
  const counts = Array.from({ length: 6 }, () => 0)
  for (let i = 0; i < 60_000; i++) counts[random.below(6)]!++
  test.ok(
    counts.every((count) => Math.abs(count - 10_000) < 400),
    `about even: ${counts.join()}`,
  )
  for (const limit of [0, -1, 1.5, 2 ** 32 + 1, Number.NaN]) test.throws(() => random.below(limit), RangeError)
})

t.test('fractions, chances, bytes and shuffles are in their ranges', async (test) => {
  const random = createRandom(9)
  let sum = 0
  let hits = 0
  for (let i = 0; i < 10_000; i++) {
    const fraction = random.fraction()
    if (fraction < 0 || fraction >= 1) test.fail(`fraction ${fraction}`)
    sum += fraction
    if (random.chance(1, 4)) hits++
  }
  test.ok(Math.abs(sum - 5000) < 200)
  test.ok(Math.abs(hits - 2500) < 200)
  test.notOk(random.chance(0, 10))
  test.ok(random.chance(10, 10))
  test.equal(random.bytes(0).length, 0)
  test.equal(random.bytes(7).length, 7)
  const items = Array.from({ length: 50 }, (_, i) => i)
  const shuffled = random.shuffled(items)
  test.not(shuffled.join(), items.join())
  test.same(
    [...shuffled].sort((a, b) => a - b),
    items,
  )
  test.equal(items[0], 0, 'the argument is not changed')
})
