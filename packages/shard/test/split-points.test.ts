import { decode, encode, Long, MaxKey, MinKey, type Document } from '@shardlab/bson'
import { WrittenBytes } from '@shardlab/shard'
import { ShardKeyPattern, type EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Shards } from './support/shards.js'

const documentBytes = 1024
const chunkBytes = 100 * documentBytes

interface Wanted {
  readonly key?: Document
  readonly min?: Document
  readonly max?: Document
  readonly pointsMax?: number
  readonly version?: EmulatedVersion
}

/** Documents of 1 KB with these keys; the split points for chunks of a hundred. */
async function points(
  values: readonly unknown[],
  { key = { a: 1 }, min, max, pointsMax, version = '7.0' }: Wanted = {},
): Promise<unknown[]> {
  const shards = new Shards({ version })
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key, name: 'i' }] })
  const documents = values.map((a, _id) => {
    const bytes = encode({ _id, a, filler: '' }).length
    return { _id, a, filler: 'x'.repeat(documentBytes - bytes) }
  })
  if (documents.length > 0) await shards.direct('shard01', { insert: 'c', documents })
  const { points: found, error } = await shards.send('shard01', 'shard.find-split-points', {
    ns: 'db.c',
    keyPattern: encode(key),
    min: encode(min ?? { a: new MinKey() }),
    max: encode(max ?? { a: new MaxKey() }),
    maxChunkSizeBytes: chunkBytes,
    pointsMax: pointsMax ?? null,
  })
  if (error !== null) throw new Error(String(decode(error)['errmsg']))
  return found.map((point) => decode(point)['a'])
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

t.test('split points leave full chunks, the last ones of equal size', async (t) => {
  for (const [count, expected, what] of [
    [0, [], 'no documents'],
    [99, [], 'less than one chunk'],
    [100, [], 'one chunk'],
    [130, [], 'hardly more: one chunk all the same'],
    [135, [67], 'two halves'],
    [150, [74], 'two halves'],
    [180, [99], 'the last one is full enough'],
    [200, [99], 'two chunks: what lies behind the second is hardly anything'],
    [450, [99, 186, 274, 362], 'the last three cuts are moved'],
  ] as const)
    t.same(await points(upTo(count)), expected, `${count}: ${what}`)
})

t.test('before 4.4 split points leave chunks of half the size', async (t) => {
  t.same(await points(upTo(150), { version: '4.0' }), [50, 101])
  t.same(await points(upTo(99), { version: '4.0' }), [])
})

t.test('documents with equal keys are not separated', async (t) => {
  t.same(await points(Array(300).fill('one')), [], 'one key cannot be divided')
  t.same(await points([...Array(250).fill(1), ...Array(120).fill(2)]), [2])
  t.same(await points([...Array(250).fill(1), 2]), [], 'hardly anything follows the frequent key')
})

t.test('split points are in the given range and at most as many as requested', async (t) => {
  t.same(await points(upTo(600), { min: { a: 100 }, max: { a: 300 } }), [199])
  t.same(await points(upTo(600), { min: { a: 700 }, max: { a: 800 } }), [], 'a range without documents')
  t.same(await points(upTo(600), { pointsMax: 1 }), [99])
  t.same(await points(upTo(150), { pointsMax: 1 }), [74], 'a single point leaves no small rest')
})

t.test('hashed keys have hashes as split points', async (t) => {
  const found = await points(upTo(300), { key: { a: 'hashed' } })
  t.equal(found.length, 2)
  t.ok(found.every((point) => point instanceof Long || typeof point === 'bigint' || typeof point === 'number'))
})

t.test('without an index there are no split points', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', {
    insert: 'c',
    documents: upTo(200).map((_id) => ({ _id, filler: 'x'.repeat(1000) })),
  })
  const request = {
    keyPattern: encode({ a: 1 }),
    min: encode({ a: new MinKey() }),
    max: encode({ a: new MaxKey() }),
    maxChunkSizeBytes: chunkBytes,
    pointsMax: null,
  }
  const ask = async (ns: string) =>
    decode((await shards.send('shard01', 'shard.find-split-points', { ns, ...request })).error!)
  t.match(await ask('db.c'), { code: 27, errmsg: "couldn't find index over splitting key { a: 1 }" })
  t.match(await ask('db.none'), { code: 26, errmsg: 'namespace db.none does not exists' })
})

t.test('written bytes are counted per version of a chunk', async (t) => {
  const shardKey = ShardKeyPattern.parse(encode({ a: 1 }), { compoundHashed: true })
  const written = new WrittenBytes({ ns: 'db.c', uuid: new Uint8Array(16), shardKey, globalMax: 'z' }, true)
  const chunk = (n: number, minor = 0) => ({
    min: `k${n}`,
    max: n === 99 ? 'z' : `k${n + 1}`,
    shard: 'shard01',
    major: 1,
    minor,
  })
  const places = Array.from({ length: 100 }, (_, n) => written.add(chunk(n), n))
  t.same(
    [...written.all()],
    places.map((place, n) => [`k${n}`, place]),
  )
  const taken = (map: WrittenBytes) => [...map.all()].flatMap(([min, place]) => map.claim(min, place, 490)?.min ?? [])
  t.same(taken(written.clone()), ['k98', 'k99'])
  t.equal(written.claim('k97', places[97]!, 490), null)
  const look = written.claim('k98', places[98]!, 490)!
  t.equal(written.claim('k98', places[98]!, 490), null, 'it is claimed')
  t.equal(written.bytesOf(look), 98)
  written.add(chunk(98), 100)
  written.release(look, 98)
  const again = written.claim('k98', places[98]!, 490)!
  t.equal(written.bytesOf(again), 100, 'later writes count')
  t.equal(written.add(chunk(98, 1), 97), places[98]!, 'a chunk with another version starts at zero')
  t.equal(written.claim('k98', places[98]!, 490), null)
  written.release(again, 100)
  written.add(chunk(98, 1), 1)
  t.match(
    written.claim('k98', places[98]!, 490),
    { min: 'k98', max: 'k99' },
    'releasing an outdated check does not change the count',
  )
})
