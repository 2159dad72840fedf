import { decode, encode, MaxKey, MinKey, ObjectId, Timestamp } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import fc from 'fast-check'
import t from 'tap'
import { ChunkMap, Distribution, noZone, type KnownChunk } from '../src/index.js'

interface Chunk {
  readonly min: number
  readonly max: number
  readonly shard: string
  readonly minor: number
}

const ends = [-10_000, 10_000] as const
const bound = (value: number) => ({ a: value === ends[0] ? new MinKey() : value === ends[1] ? new MaxKey() : value })
const documentOf = ({ min, max, shard, minor }: Chunk) =>
  encode({ min: bound(min), max: bound(max), shard, lastmod: new Timestamp({ t: 1, i: minor }) })
const collection = encode({
  _id: 'db.c',
  lastmodEpoch: new ObjectId('0123456789abcdef01234567'),
  timestamp: new Timestamp({ t: 5, i: 1 }),
  key: { a: 1 },
})
const mapOf = (known: ChunkMap | null, chunks: readonly Chunk[]) => mapOfDocuments(known, chunks.map(documentOf))

function mapOfDocuments(known: ChunkMap | null, ...parts: readonly (readonly Uint8Array[])[]): ChunkMap {
  const update = ChunkMap.update(known, collection)
  for (const documents of parts) update.add(documents)
  return update.finish()
}

const told = (map: ChunkMap) =>
  JSON.stringify([
    map.version,
    map.count,
    map.chunks.map(chunkTold),
    [...map.byShard]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([shard, own]) => [shard, own.length, [...own].map(chunkTold)]),
  ])
const chunkTold = ({ min, max, shard, isJumbo, estimatedBytes, minDocument, maxDocument }: KnownChunk) => [
  ...[min, max, shard, isJumbo, estimatedBytes],
  ...[minDocument, maxDocument].map((each) => Buffer.from(each).toString('hex')),
]

t.test('a map updated by splits, merges and moves equals one read from scratch', async (t) => {
  const shards = ['a', 'b', 'c']
  const change = fc.tuple(
    fc.integer({ min: -3000, max: 3000 }),
    fc.integer({ min: 1, max: 400 }),
    fc.integer({ min: 0, max: 2 }),
    fc.boolean(),
  )
  await check(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 900 }),
      fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }),
      async (count, answers) => {
        let minor = 0
        const cuts = Array.from({ length: count - 1 }, (_, i) => i * 2 - count)
        let chunks = [ends[0], ...cuts].map((min, i): Chunk => ({
          min,
          max: cuts[i] ?? ends[1],
          shard: shards[i % 3]!,
          minor: ++minor,
        }))
        let map = mapOf(null, chunks)
        for (const changes of answers) {
          const before = minor
          for (const [at, width, shard, isMerge] of changes) {
            const first = chunks.findLastIndex(({ min }) => min <= at)
            const touched = chunks.slice(first, isMerge ? first + width : first + 1)
            const [min, max] = [touched[0]!.min, touched.at(-1)!.max]
            const middle = isMerge || at <= min || at >= max ? [] : [at]
            const parts = [min, ...middle].map((low, i): Chunk => ({
              min: low,
              max: middle[i] ?? max,
              shard: shards[(shard + i) % 3]!,
              minor: ++minor,
            }))
            chunks = chunks.toSpliced(first, touched.length, ...parts)
          }
          map = mapOf(
            map,
            chunks.filter((chunk) => chunk.minor > before).sort((a, b) => a.minor - b.minor),
          )
          if (told(map) !== told(mapOf(null, chunks))) throw new Error('what it remembers is not what there is')
          for (const { min, max, shard } of chunks.slice(0, 5)) {
            const key = map.shardKey.keyStringOfBound(encode(bound(min)))!
            if (map.at(key)?.shard !== shard || map.holding(key) !== map.at(key)) throw new Error(`not found: ${min}`)
            const within = map.shardKey.keyStringOfBound(encode(bound(min + 1)))!
            if (max > min + 1 && (map.at(within) !== undefined || map.holding(within) !== map.at(key)))
              throw new Error(`not held: ${min + 1}`)
          }
        }
      },
    ),
    process.env['SHARDLAB_LONG'] === '1' ? 500 : 25,
  )
  t.pass()
})

t.test('a full answer may be unsorted and contain documents that are not chunks', async (t) => {
  const cuts = Array.from({ length: 300 }, (_, i) => i)
  const chunks = [ends[0], ...cuts].map((min, i): Chunk => ({
    min,
    max: cuts[i] ?? ends[1],
    shard: `s${i % 7}`,
    minor: i,
  }))
  const map = mapOf(null, chunks)
  t.equal(told(mapOf(null, [...chunks.slice(200).reverse(), ...chunks.slice(0, 200)])), told(map))
  t.same(
    map.chunks.map(({ minDocument, maxDocument }) =>
      [minDocument, maxDocument].map((each) => Buffer.from(each).toString('hex')),
    ),
    chunks.map(({ min, max }) => [min, max].map((each) => Buffer.from(encode(bound(each))).toString('hex'))),
  )
  const strange = encode({ min: { b: 1 }, max: { b: 2 }, shard: 's0', lastmod: new Timestamp({ t: 1, i: 8 }) })
  const documents = chunks.map(documentOf)
  const withStrange = [...documents.slice(0, 9), strange, ...documents.slice(9)]
  t.equal(told(mapOfDocuments(null, withStrange)), told(map))
  for (const at of [1, 9, 10, 299])
    t.equal(told(mapOfDocuments(null, withStrange.slice(0, at), withStrange.slice(at))), told(map), 'in two parts')
})

t.test('a chunk that changed between two parts of an answer counts as it is in the later one', (t) => {
  const [low, middle, high] = [
    { min: ends[0], max: 0, shard: 'a', minor: 0 },
    { min: 0, max: 10, shard: 'b', minor: 1 },
    { min: 10, max: ends[1], shard: 'c', minor: 2 },
  ] as const
  const split = [
    { ...low, max: -5, minor: 3 },
    { ...low, min: -5, minor: 4 },
  ]
  const parts = [[low, middle].map(documentOf), [high, ...split].map(documentOf)]
  t.equal(told(mapOfDocuments(null, ...parts)), told(mapOf(null, [middle, high, ...split])))
  t.end()
})

t.test('jumbo marks and sizes are read, and a new version alone changes no chunk', async (t) => {
  const [first, second] = [
    { min: ends[0], max: 0, shard: 'a', minor: 1 },
    { min: 0, max: ends[1], shard: 'b', minor: 2 },
  ] as const
  const marked = encode({
    ...decode(documentOf(second)),
    jumbo: true,
    estimatedDataSizeBytes: 5000,
  })
  const map = mapOfDocuments(null, [documentOf(first), marked])
  t.same(
    map.chunks.map(({ isJumbo, estimatedBytes }) => [isJumbo, estimatedBytes]),
    [
      [false, null],
      [true, 5000],
    ],
  )
  const raised = mapOf(map, [{ ...first, minor: 3 }])
  t.same(raised.version.slice(3), [1, 3])
  t.same([...raised.byShard.values()], [...map.byShard.values()])
  t.equal(raised.at(map.chunks[0]!.min), map.chunks[0])
  const unmarked = mapOf(raised, [{ ...second, minor: 4 }])
  t.same([unmarked.chunks[1]!.isJumbo, unmarked.chunks[1]!.estimatedBytes], [false, null])
})

t.test('marking a chunk jumbo leaves the earlier map unchanged', async (t) => {
  const map = mapOf(null, [
    { min: ends[0], max: 0, shard: 'a', minor: 1 },
    { min: 0, max: ends[1], shard: 'b', minor: 2 },
  ])
  const { min } = map.chunks[1]!
  const marked = map.withJumbo(min)
  t.same(
    [map.at(min)!.isJumbo, marked.at(min)!.isJumbo, [...marked.byShard.get('b')!][0]!.isJumbo],
    [false, true, true],
  )
  t.equal(marked.byShard.get('a'), map.byShard.get('a'), 'what has not changed is shared')
  t.equal(map.withJumbo('nowhere'), map)
})

t.test('cached counts by zone stay correct when some chunks change', async (t) => {
  const ranges = [
    { min: '10', max: '30', zone: 'x' },
    { min: '30', max: '40', zone: 'y' },
  ]
  const place = (at: number, shard: string) => ({
    min: String(at).padStart(2, '0'),
    max: String(at + 5).padStart(2, '0'),
    shard,
    isJumbo: false,
  })
  const a = [5, 10, 15].map((at) => place(at, 'a'))
  const b = [20, 30, 45].map((at) => place(at, 'b'))
  const first = new Distribution(
    new Map([
      ['a', a],
      ['b', b],
    ]),
    ranges,
  )
  t.same([first.countOn('a'), first.countOn('a', 'x'), first.countOn('b', 'x'), first.countOn('b', 'y')], [3, 2, 1, 1])
  t.same([first.countIn('x'), first.countIn(noZone), first.chunkCount], [3, 2, 6])
  const moved = new Distribution(
    new Map([
      ['a', a.slice(1)],
      ['b', [a[0]!, ...b]],
    ]),
    ranges,
  )
  t.same([moved.countOn('a', noZone), moved.countOn('b', noZone), moved.countIn('x')], [0, 2, 3])
  t.same([...moved.zonesOn('b')].sort(), [noZone, 'x', 'y'])
})
