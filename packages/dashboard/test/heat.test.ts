import type { OperationsEvent } from '@shardlab/actor'
import t from 'tap'
import { sizesIn } from '../src/page/chunk-sizes.js'
import { bytesHeatOf, heatOf, knownHeatOf } from '../src/page/heat.js'
import type { LiveChunk } from '../src/index.js'

const chunks: LiveChunk[] = ['10', '20', '30', '40'].map((key) => ({ key, min: '{}', shard: 'shard01' }))

function event(chunks: OperationsEvent['chunks'], atMs = 0) {
  return { atMs, chunks } as unknown as OperationsEvent
}

t.test('chunks have the share of the operations that went to them', async (t) => {
  const events = [
    event([
      ['a.b', '10', '10', 20],
      // It has been split since.
      ['a.b', '2f', '2f', 20],
      ['a.c', '10', '10', 20],
    ]),
    // Across three chunks.
    event([['a.b', '25', '40', 1]]),
    event([['a.b', '30', '30', 2]]),
    event([]),
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
  t.equal(heatOf('a.b', [], [event([['a.b', '10', '10', 1]])]).most, 0)
  t.equal(heatOf('a.b', chunks, [event([['a.b', '05', '05', 1]])]).most, 0, 'a key before all chunks')
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
  const events = [event([['a.b', '10', '10', 1]], 1000), event([['a.b', '20', '20', 1]], 50_000)]
  const shown = { id: 'a', chunks }
  const sharesAt = (nowMs: number) => [...knownHeatOf('a.b', shown, events, nowMs).shares]
  t.same(sharesAt(60_000), [0.5, 0.5, 0, 0])
  t.same(sharesAt(62_000), [0, 1, 0, 0])
  t.equal(knownHeatOf('a.b', shown, events, 120_000).most, 0)
})
