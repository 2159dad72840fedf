import t from 'tap'
import { sizesIn } from '../src/page/chunk-sizes.js'
import { bytesHeatOf, heatOf, knownHeatOf } from '../src/page/heat.js'
import type { LiveChunk, LiveOperations } from '../src/index.js'

const chunks: LiveChunk[] = ['10', '20', '30', '40'].map((key) => ({ key, min: '{}', shard: 'shard01' }))

function event(operations: number, samples: readonly (readonly [ns: string, keys: readonly [string, string][]])[]) {
  return {
    shapes: [{ operations }],
    samples: samples.map(([ns, keys]) => ({ ns, keys })),
  } as unknown as LiveOperations
}

t.test('chunks have the share of the operations that went to them', async (t) => {
  const events = [
    event(60, [
      ['a.b', [['10', '10']]],
      ['a.b', [['2f', '2f']]],
      ['a.c', [['10', '10']]],
    ]),
    // Across three chunks, and an operation with two bounds.
    event(1, [['a.b', [['25', '40']]]]),
    event(2, [
      [
        'a.b',
        [
          ['30', '30'],
          ['35', '35'],
        ],
      ],
    ]),
    event(100, [['a.b', []]]),
  ]
  const { shares, most } = heatOf('a.b', chunks, events)
  const sum = 20 + 20 + 1 + 2
  const expected = [20, 20 + 1 / 3, 1 / 3 + 2, 1 / 3].map((each) => each / sum)
  t.ok(
    shares.every((share, i) => Math.abs(share - expected[i]!) < 1e-9),
    shares.join(),
  )
  t.equal(most, shares[1])
})

t.test('without operations there is no heat', async (t) => {
  t.equal(heatOf('a.b', chunks, []).most, 0)
  t.equal(heatOf('a.b', [], [event(1, [['a.b', [['10', '10']]]])]).most, 0)
  t.equal(heatOf('a.b', chunks, [event(1, [['a.b', [['05', '05']]]])]).most, 0, 'a key before all chunks')
})

t.test('chunks have the share of the bytes that they hold', async (t) => {
  const shard = (name: string, bytes: Readonly<Record<string, number>>, error: string | null = null) => ({
    ...{ shard: name, keys: Object.keys(bytes), bytes: Object.values(bytes), error },
    ends: Object.keys(bytes).map((key) => ({ '10': '20', '20': '30', '30': '35', '40': 'ff' })[key]!),
    documents: Object.values(bytes).map((each) => each / 10),
  })
  const sizes = sizesIn([
    shard('shard01', { '10': 100, '20': 50 }),
    shard('shard02', { '20': 50, '40': 250 }),
    shard('shard03', {}, 'the shard is down'),
  ])
  t.same(
    [...sizes.byKey.values()].map(({ documents }) => documents),
    [10, 5, 25],
    'a chunk that moved between the answers counts once',
  )
  t.same(sizes.errors, ['No sizes of shard03: the shard is down.'])
  const heat = bytesHeatOf(chunks, sizes)
  t.same([...heat.shares], [0.25, 0.125, 0, 0.625])
  t.match(heat, { of: 'bytes', most: 0.625 })
  t.equal(bytesHeatOf(chunks, sizesIn([])).most, 0)
  const split = bytesHeatOf(chunks, sizesIn([shard('shard01', { '10': 100, '30': 300 })]))
  t.same([...split.shares], [1, 0, 0, 0], 'a chunk with another end has been split or merged since')
})

t.test('operations of the last minute alone count', async (t) => {
  const at = (atMs: number, key: string) => ({ ...event(1, [['a.b', [[key, key]]]]), atMs })
  const events = [at(1000, '10'), at(50_000, '20')]
  const shown = { id: 'a', chunks }
  const sharesAt = (nowMs: number) => [...knownHeatOf('a.b', shown, events, nowMs).shares]
  t.same(sharesAt(60_000), [0.5, 0.5, 0, 0])
  t.same(sharesAt(62_000), [0, 1, 0, 0])
  t.match(knownHeatOf('a.b', shown, events, 120_000), { most: 0, samples: 0 })
})
