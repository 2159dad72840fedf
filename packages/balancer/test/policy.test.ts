import t from 'tap'
import { Distribution, splitsAtZones } from '../src/index.js'
import { byCount, bySize, keyOf, picture, selectionBySize, zone, type Shard } from './support/picture.js'

t.test('chunk count: the fullest shard donates to the emptiest', async (t) => {
  t.same(byCount([{ chunks: 4 }, { chunks: 0 }, { chunks: 3 }]), ['a>b 0 chunksImbalance'])
})

t.test('chunk count: a small cluster is balanced to one chunk', async (t) => {
  t.same(byCount([{ chunks: 1 }, { chunks: 0 }]), [], 'one chunk is moved nowhere')
  t.same(byCount([{ chunks: 2 }, { chunks: 0 }]), ['a>b 0 chunksImbalance'])
  t.same(
    byCount([{ chunks: 0 }, { chunks: 2 }, { chunks: 0 }, { chunks: 0 }]),
    ['b>a 0 chunksImbalance'],
    'the first of equal recipients',
  )
})

t.test('chunk count: a deviation below the threshold moves nothing', async (t) => {
  t.same(byCount([{ chunks: 3 }, { chunks: 2 }]), [], 'the ideal of five is three')
  t.same(byCount([{ chunks: 4 }, { chunks: 2 }]), ['a>b 0 chunksImbalance'], 'one above the ideal')
  t.same(byCount([{ chunks: 2 }, { chunks: 2 }, { chunks: 1 }]), [], 'none is above')
  t.same(byCount([{ chunks: 55 }, { chunks: 45 }]), ['a>b 0 chunksImbalance'], 'however many chunks there are')
})

t.test('chunk count: several pairs of shards migrate in one round', async (t) => {
  t.same(byCount([{ chunks: 4 }, { chunks: 4 }, { chunks: 0 }, { chunks: 0 }]), [
    'a>c 0 chunksImbalance',
    'b>d 4 chunksImbalance',
  ])
  t.same(
    byCount([{ chunks: 8 }, { chunks: 0 }, { chunks: 0 }, { chunks: 0 }]),
    ['a>b 0 chunksImbalance'],
    'each shard once',
  )
  t.same(byCount([{ chunks: 4 }, { chunks: 4 }, { chunks: 1 }]), ['a>c 0 chunksImbalance'])
})

t.test('chunk count: a shard in use takes no part', async (t) => {
  t.same(byCount([{ chunks: 4 }, { chunks: 4 }, { chunks: 0 }, { chunks: 0 }], [], ['a']), ['b>c 4 chunksImbalance'])
  t.same(byCount([{ chunks: 4 }, { chunks: 0 }], [], ['b']), [])
})

t.test('chunk count: jumbo chunks stay', async (t) => {
  t.same(byCount([{ chunks: ['jumbo', 'chunk', 'chunk', 'chunk'] }, { chunks: 0 }]), ['a>b 1 chunksImbalance'])
  t.same(byCount([{ chunks: ['jumbo', 'jumbo', 'jumbo', 'jumbo'] }, { chunks: 0 }]), [])
})

t.test('chunk count: chunks leave a draining shard first', async (t) => {
  t.same(byCount([{ chunks: 2, draining: true }, { chunks: 0 }, { chunks: 5 }]), ['a>b 0 draining'])
  t.same(
    byCount([
      { chunks: 2, draining: true },
      { chunks: 2, draining: true },
    ]),
    [],
    'no recipient',
  )
  t.same(
    byCount([{ chunks: 2, draining: true }, { chunks: 2, draining: true }, { chunks: 0 }, { chunks: 1 }]),
    ['a>c 0 draining', 'b>d 2 draining'],
    'two at a time',
  )
  t.same(byCount([{ chunks: 0, draining: true }, { chunks: 6 }, { chunks: 5 }]), [], 'a draining shard gets nothing')
  t.same(byCount([{ chunks: ['jumbo', 'chunk'], draining: true }, { chunks: 0 }]), ['a>b 1 draining'])
  t.same(byCount([{ chunks: ['jumbo', 'jumbo'], draining: true }, { chunks: 0 }]), [], 'flagged ones stay even there')
  t.same(
    byCount([{ chunks: 4 }, { chunks: 0, full: true }, { chunks: 1 }]),
    ['a>c 0 chunksImbalance'],
    'nor does a full one',
  )
})

t.test('chunk count: chunks leave a draining shard first respects zones', async (t) => {
  const shards: Shard[] = [{ chunks: 2, draining: true, zones: ['x'] }, { chunks: 0 }, { chunks: 3, zones: ['x'] }]
  t.same(byCount(shards, [zone(0, 2, 'x')]), ['a>c 0 draining'], 'only to a shard of the zone')
  t.same(byCount(shards.slice(0, 2), [zone(0, 2, 'x')]), [], 'or not at all')
})

t.test('chunk count: chunks move into their zones', async (t) => {
  t.same(byCount([{ chunks: 2 }, { chunks: 0, zones: ['x'] }], [zone(0, 1, 'x')]), ['a>b 0 zoneViolation'])
  t.same(
    byCount([{ chunks: 2, zones: ['x'] }, { chunks: 0 }, { chunks: 6, draining: true }], [zone(2, 3, 'x')]),
    ['c>a 2 draining'],
    'draining comes first',
  )
  t.same(byCount([{ chunks: ['jumbo', 'chunk'] }, { chunks: 0, zones: ['x'] }], [zone(0, 2, 'x')]), [
    'a>b 1 zoneViolation',
  ])
  t.same(
    byCount([{ chunks: 4, zones: ['x'] }, { chunks: 0 }, { chunks: 0, zones: ['x'] }], [zone(0, 4, 'x')]),
    ['a>c 0 chunksImbalance'],
    'balance within a zone',
  )
  t.same(byCount([{ chunks: 2 }, { chunks: 0 }], [zone(0, 2, 'x')]), [], 'a zone that no shard carries')
  const unzoned: Shard[] = [{ chunks: 6, zones: ['x'] }, { chunks: 0 }]
  t.same(byCount(unzoned, [zone(0, 2, 'x')]), ['a>b 2 chunksImbalance'], 'what is in no zone may go anywhere')
  t.same(byCount(unzoned, [zone(0, 3, 'x')]), [], 'its ideal counts all chunks: three of six')
})

t.test('a chunk that a zone covers in part belongs to no zone until it is split', async (t) => {
  const { chunks } = picture({ chunks: 2 })
  const ranges = [{ min: '000005', max: keyOf(2), zone: 'x' }]
  t.same(
    new Distribution(chunks, ranges).chunksOn('a').map((each) => each.zone),
    ['', 'x'],
  )
  const map = { holding: (key: string) => chunks.find(({ min, max }) => min <= key && key < max) }
  t.same([...splitsAtZones(map, ranges)], [[chunks[0], ['000005']]])
  t.equal(splitsAtZones(map, [zone(0, 1, 'x')]).size, 0, 'bounds of chunks need no split')
})

t.test('data size: a difference below three chunks moves nothing', async (t) => {
  t.same(
    bySize([
      { chunks: 3, bytes: 300 },
      { chunks: 1, bytes: 0 },
    ]),
    ['a>b 0 chunksImbalance'],
    'three chunks of difference',
  )
  t.same(
    bySize([
      { chunks: 9, bytes: 299 },
      { chunks: 1, bytes: 0 },
    ]),
    [],
    'one byte less; numbers of chunks do not matter',
  )
  t.same(
    bySize([
      { chunks: 1, bytes: 1000 },
      { chunks: 1, bytes: 701 },
    ]),
    [],
  )
  t.same(
    bySize([
      { chunks: 1, bytes: 0 },
      { chunks: 1, bytes: 0 },
    ]),
    [],
    'no data',
  )
  t.same(bySize([{ chunks: 1, bytes: 1000 }, { chunks: 0 }]), [], 'a shard that did not tell takes no part')
})

t.test('data size: the largest donates to the smallest', async (t) => {
  t.same(
    bySize([
      { chunks: 2, bytes: 900 },
      { chunks: 2, bytes: 800 },
      { chunks: 0, bytes: 0 },
      { chunks: 0, bytes: 10 },
    ]),
    ['a>c 0 chunksImbalance', 'b>d 2 chunksImbalance'],
  )
  t.same(
    bySize([
      { chunks: ['jumbo', 'chunk'], bytes: 900 },
      { chunks: 0, bytes: 0 },
    ]),
    ['a>b 1 chunksImbalance'],
  )
})

t.test('data size: draining and zones come first', async (t) => {
  t.same(
    bySize([
      { chunks: 1, bytes: 10, draining: true },
      { chunks: 0, bytes: 900 },
      { chunks: 0, bytes: 20 },
    ]),
    ['a>c 0 draining'],
  )
  t.same(
    bySize(
      [
        { chunks: 1, bytes: 10 },
        { chunks: 0, bytes: 900, zones: ['x'] },
      ],
      [zone(0, 1, 'x')],
    ),
    ['a>b 0 zoneViolation'],
  )
})

t.test('data size: a shard with its share receives nothing', async (t) => {
  const shards: Shard[] = [
    { chunks: 3, bytes: 1000 },
    { chunks: 1, bytes: 600 },
    { chunks: 0, bytes: 0, full: true },
  ]
  t.same(bySize(shards), [])
})

t.test('data size: the heaviest shard of another zone blocks a zone, and the selection says so', async (t) => {
  const ranges = [zone(0, 4, 'EU'), zone(4, 8, 'US')]
  const eu: Shard = { chunks: 4, zones: ['EU'], bytes: 5000 }
  const us: Shard = { chunks: 4, zones: ['US'], bytes: 2000 }
  const { migrations, blocked, notes } = selectionBySize([eu, us, { chunks: 0, zones: ['US'], bytes: 0 }], ranges)
  t.same(migrations, [])
  t.same(blocked, [
    {
      zone: 'US',
      heaviest: 'a',
      because:
        'zone US: a is the heaviest and not in it, so nothing moves in this round, although b has 2000 bytes, c 0 bytes: 2000 bytes more, at least 3 chunks of 100 bytes',
    },
  ])
  t.ok(notes.includes(blocked[0]!.because))
  t.same(selectionBySize([eu, us, { chunks: 0, zones: ['US'], bytes: 1800 }], ranges).blocked, [], 'even enough')
  t.same(selectionBySize([{ ...eu, bytes: 1900 }, us, { chunks: 0, zones: ['US'], bytes: 0 }], ranges).blocked, [])
  t.same(bySize([{ ...eu, bytes: 1900 }, us, { chunks: 0, zones: ['US'], bytes: 0 }], ranges), [
    'b>c 4 chunksImbalance',
  ])
})

t.test('data size: a zone is not blocked when the heaviest shard moves in its own zone', async (t) => {
  const ranges = [zone(0, 4, 'EU'), zone(4, 8, 'US')]
  const shards: readonly Shard[] = [
    { chunks: 4, zones: ['EU'], bytes: 5000 },
    { chunks: 4, zones: ['US'], bytes: 2000 },
    { chunks: 0, zones: ['US'], bytes: 0 },
    { chunks: 0, zones: ['EU'], bytes: 0 },
  ]
  t.same(bySize(shards, ranges), ['a>d 0 chunksImbalance', 'b>c 4 chunksImbalance'])
  t.same(selectionBySize(shards, ranges).blocked, [])
})

t.test('data size: jumbo chunks on the heaviest shard block a collection', async (t) => {
  const { blocked } = selectionBySize([
    { chunks: ['jumbo', 'jumbo'], bytes: 2000 },
    { chunks: 1, bytes: 100 },
  ])
  t.match(blocked, [
    {
      zone: '',
      heaviest: 'a',
      because:
        'outside of all zones: a is the heaviest and has only jumbo chunks there, so nothing moves in this round',
    },
  ])
})
