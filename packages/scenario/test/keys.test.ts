import { createRandom } from '@shardlab/actor'
import t from 'tap'
import { imbalanceOf, keysOf, keyWeightsOf, rateAt, scatterBelow, type KeysSource } from '@shardlab/scenario'

const draws = 20_000

/** In descending order. */
function counted(source: KeysSource): (readonly [unknown, number])[] {
  const random = createRandom(1).fork('keys')
  const keys = keysOf(source)
  const counts = new Map<unknown, number>()
  for (let documents = 0; documents < draws; documents++) {
    const key = keys.ofDocument(random.fraction(), { documents, nextKey: documents })
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)
}

t.test('each distribution draws its values with the documented frequencies', async (t) => {
  const uniform = counted({ distribution: 'uniform', cardinality: 10 })
  t.equal(uniform.length, 10)
  t.ok(uniform[0]![1] < 2200 && uniform[9]![1] > 1800)
  t.equal(counted({ distribution: 'uniform' }).length, draws, 'without cardinality no value repeats')
  const zipfian = counted({ distribution: 'zipfian', theta: 0.99, cardinality: 1000 })
  // 1 / (sum of 1 / i^0.99 for i to 1000)
  t.ok(Math.abs(zipfian[0]![1] / draws - 0.1294) < 0.01, `${zipfian[0]![1]}`)
  t.ok(
    zipfian.slice(0, 3).every(([key]) => (key as number) < 1000) && zipfian[0]![0] !== (zipfian[1]![0] as number) - 1,
    'frequent values are spread over the key space',
  )
  const hotspot = new Map(
    counted({ distribution: 'hotspot', cardinality: 100, shareOfKeys: 0.1, shareOfOperations: 0.9 }),
  )
  const hot = [...hotspot].filter(([key]) => (key as number) < 10).reduce((sum, [, count]) => sum + count, 0)
  t.ok(Math.abs(hot / draws - 0.9) < 0.01)
  t.ok(
    counted({ distribution: 'hotspot', cardinality: 10, shareOfKeys: 1, shareOfOperations: 0.5 }).every(
      ([key]) => (key as number) < 10,
    ),
  )
  const monotonic = keysOf({ distribution: 'monotonic' })
  t.equal(monotonic.ofDocument(0.5, { documents: 3, nextKey: 1000 }), 1000)
  t.equal(monotonic.drawn(0.999, { documents: 3, nextKey: 1000 }), 999)
  const latest = keysOf({ distribution: 'latest', theta: 0.99 })
  t.equal(latest.drawn(0, { documents: 3, nextKey: 1000 }), 999)
  t.equal(latest.drawn(0.9999, { documents: 3, nextKey: 5 }), 0)
  const file = t.testdir({ 'keys.txt': 'Asia\nAsia\n42\n\n"7"\n', 'empty.txt': '' })
  t.same(
    counted({ distribution: 'file', path: `${file}/keys.txt` })
      .map(([key]) => key)
      .sort(),
    [42, '7', 'Asia'].sort(),
  )
  t.throws(() => keysOf({ distribution: 'file', path: `${file}/empty.txt` }), {
    name: 'OptionError',
    message: /is empty/,
  })
  t.throws(() => keysOf({ distribution: 'file', path: `${file}/none.txt` }), {
    name: 'OptionError',
    message: /cannot be read: ENOENT/,
  })
})

t.test('the weights of a distribution equal the frequencies that it draws', async (t) => {
  const random = createRandom(2).fork('weights')
  const progress = { documents: 5000, nextKey: 5000 }
  const sources: KeysSource[] = [
    { distribution: 'uniform' },
    { distribution: 'uniform', cardinality: 300 },
    { distribution: 'zipfian', theta: 0.99, cardinality: 50 },
    { distribution: 'zipfian', theta: 0.7, cardinality: 5000 },
    { distribution: 'hotspot', cardinality: 3000, shareOfKeys: 0.1, shareOfOperations: 0.9 },
    { distribution: 'monotonic' },
    { distribution: 'latest', theta: 0.99 },
    { distribution: 'file', path: `${t.testdir({ 'keys.txt': '7\n7\n42\n' })}/keys.txt` },
  ]
  for (const source of sources) {
    const [keys, weights] = [keysOf(source), keyWeightsOf(source, 1000).ofOperations(progress)]
    t.ok(
      Math.abs(weights.reduce((sum, { weight }) => sum + weight, 0) - 1) < 1e-9,
      `${source.distribution}: the weights add up to 1`,
    )
    const drawn = Array.from({ length: draws }, () => keys.drawn(random.fraction(), progress) as number)
    const end = Math.max(...weights.map(({ to }) => to))
    for (const share of [0.01, 0.1, 0.3, 0.5, 0.9, 0.99]) {
      const bound = Math.floor(end * share)
      const below = weights.reduce(
        (sum, { from, to, weight }) => sum + weight * Math.min(1, Math.max(0, (bound - from) / (to - from))),
        0,
      )
      const counted = drawn.filter((key) => key < bound).length / draws
      t.ok(Math.abs(below - counted) < 0.02, `${source.distribution}: ${below} below ${share}, drawn ${counted}`)
    }
  }
  t.same(keyWeightsOf({ distribution: 'monotonic' }, 1000).ofDocuments(progress, 10), [
    { from: 5000, to: 5010, weight: 1 },
  ])
  t.throws(
    () => keyWeightsOf({ distribution: 'file', path: `${t.testdir({ 'names.txt': 'Asia\n' })}/names.txt` }, 10),
    {
      name: 'OptionError',
      message: /"Asia"; in mode metadata all values must be whole numbers/,
    },
  )
})

t.test('scattering is a bijection', async (t) => {
  for (const size of [1, 2, 7, 1000, 4096]) {
    const place = scatterBelow(size)
    t.equal(new Set(Array.from({ length: size }, (_, rank) => place(rank))).size, size)
  }
  t.equal(scatterBelow(2 ** 30)(2 ** 30 - 1) < 2 ** 30, true)
})

t.test('a rate oscillates between its bounds, and imbalance is the maximum over the mean', async (t) => {
  const rate = { low: 10, high: 30, period: 1000 }
  t.same(
    [0, 250, 500, 750].map((at) => Math.round(rateAt(rate, at))),
    [10, 20, 30, 20],
  )
  t.equal(rateAt(5, 123), 5)
  t.same(imbalanceOf([2, 2, 2]), { maxToMean: 1, deviation: 0 })
  t.same(imbalanceOf([0, 4]), { maxToMean: 2, deviation: 2 })
  t.same(imbalanceOf([0, 0]), { maxToMean: 1, deviation: 0 }, 'no data counts as balanced')
})
