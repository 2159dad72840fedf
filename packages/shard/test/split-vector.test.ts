import { Long, MaxKey, MinKey, type Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

/** Documents of about 1 KB each with these keys, and an index over them. */
async function collectionOf(
  values: readonly unknown[],
  {
    version = '7.0' as const,
    index = { a: 1 } as Document,
  }: { version?: '2.6' | '4.0' | '4.4' | '5.0' | '6.0.2' | '7.0' | '8.0'; index?: Document } = {},
): Promise<(command: Document) => Promise<Document>> {
  const shards = new Shards({ version })
  await shards.direct('shard01', { create: 'c' })
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: index, name: 'i' }] })
  const documents = values.map((a, _id) => ({ _id, a, filler: 'x'.repeat(1000) }))
  if (documents.length > 0)
    t.match(await shards.direct('shard01', { insert: 'c', documents }), { ok: 1, n: documents.length })
  return (command) => shards.direct('shard01', { splitVector: 'db.c', keyPattern: { a: 1 }, ...command })
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

t.test('force returns the middle of a range', async (t) => {
  const split = await collectionOf(upTo(10))
  t.match(await split({ force: true }), { splitKeys: [{ a: 5 }], ok: 1 })
  t.match(
    await split({ min: { a: 2 }, max: { a: 7 }, force: true }),
    { splitKeys: [{ a: 4 }] },
    'of five keys the third',
  )
  t.match(await split({ min: { a: 2 }, max: { a: new MaxKey() }, force: true }), { splitKeys: [{ a: 6 }] })
  t.same((await split({ min: { a: 3 }, max: { a: 4 }, force: true }))['splitKeys'], [], 'one key cannot be divided')
})

t.test('documents with equal keys are not separated', async (t) => {
  const split = await collectionOf([1, 1, 1, 1, 1, 1, 1, 2, 3])
  t.match(await split({ force: true }), { splitKeys: [{ a: 2 }] }, 'the first key behind the frequent one')
  const same = await collectionOf([4, 4, 4, 4])
  t.same((await same({ force: true }))['splitKeys'], [])
})

t.test('split points leave parts of half the chunk size', async (t) => {
  // The average document has 1034 bytes: 507 keys make half a megabyte.
  const split = await collectionOf(upTo(3000))
  const { splitKeys } = await split({ maxChunkSize: 1 })
  t.same(splitKeys, [{ a: 507 }, { a: 1015 }, { a: 1523 }, { a: 2031 }, { a: 2539 }])
  t.same((await split({ maxChunkSizeBytes: 1024 * 1024 }))['splitKeys'], splitKeys)
  t.same((await split({ maxChunkSize: 1, maxSplitPoints: 2 }))['splitKeys'], [{ a: 507 }, { a: 1015 }])
  t.same(
    ((await split({ maxChunkSize: 1, maxChunkObjects: 1000 }))['splitKeys'] as unknown[]).length,
    5,
    'the lower limit holds',
  )
  t.same((await split({ maxChunkSize: 1, maxChunkObjects: 400, maxSplitPoints: 1 }))['splitKeys'], [{ a: 400 }])
  t.same((await split({ maxChunkSize: 4 }))['splitKeys'], [], 'all of it is smaller than one chunk')
})

t.test('hashed keys and indexes with more fields are supported', async (t) => {
  const hashed = await collectionOf([1, 2, 3, 4], { index: { a: 'hashed' } })
  const { splitKeys } = await hashed({ keyPattern: { a: 'hashed' }, force: true })
  t.ok((splitKeys as { a: Long }[])[0]!.a instanceof Long, 'split points are hashes')
  const longer = await collectionOf(upTo(6), { index: { a: 1, filler: -1 } })
  t.match(await longer({ force: true }), { splitKeys: [{ a: 3 }] })
  t.same((await longer({ force: true }))['splitKeys'], [{ a: 3 }], 'the key alone')
})

t.test('missing fields are null in split points', async (t) => {
  const split = await collectionOf([undefined, undefined, 1, 2])
  t.match(await split({ force: true }), { splitKeys: [{ a: 1 }] })
  t.same((await split({ min: { a: new MinKey() }, max: { a: 1 }, force: true }))['splitKeys'], [])
})

t.test('invalid requests are refused', async (t) => {
  const split = await collectionOf(upTo(3))
  t.same(Object.keys(await split({ keyPattern: {} })).includes('code'), false)
  t.match(await split({ keyPattern: {} }), { ok: 0, errmsg: 'no key pattern found in splitVector' })
  t.match(await split({ min: { a: 1 }, force: true }), {
    ok: 0,
    errmsg: 'either provide both min and max or leave both empty',
  })
  t.match(await split({}), { code: 72, errmsg: 'need to specify the desired max chunk size' })
  t.match(await split({ maxChunkSize: 0 }), { code: 72 })
  t.match(await split({ maxChunkSize: 1025 }), { code: 72 })
  t.match(await split({ maxChunkSize: 1, maxChunkObjects: 0 }), { code: 72 })
  t.match(await split({ keyPattern: { b: 1 }, force: true }), {
    code: 27,
    errmsg: "couldn't find index over splitting key { b: 1 }",
  })
  t.match(await split({ keyPattern: { a: -1 }, force: true }), { code: 27 }, 'the directions must agree')
  t.match(await split({ min: { b: 1 }, max: { b: 2 }, force: true }), { code: 16634 })
  t.match(await split({ min: { a: 1, b: 1 }, max: { a: 2, b: 1 }, force: true }), { code: 349 })
  t.match(await split({ min: { a: 50 }, max: { a: 60 }, force: true }), { code: 96 }, 'no key in the range')
  t.match(await split({ splitVector: 'db.none', force: true }), { code: 26, errmsg: 'ns not found' })
  t.match(await split({ splitVector: 'none', force: true }), { code: 73 })
})

t.test('an empty collection has no split points until 4.0, and is refused since 4.4', async (t) => {
  for (const version of ['2.6', '4.0'] as const)
    t.match(await (await collectionOf([], { version }))({ force: true }), { splitKeys: [], ok: 1 }, version)
  for (const version of ['4.4', '8.0'] as const)
    t.match(await (await collectionOf([], { version }))({ force: true }), { code: 72 }, version)
})

t.test('chunk sizes are limited since 6.0', async (t) => {
  const old = await collectionOf(upTo(4), { version: '5.0' })
  t.match(await old({ maxChunkSizeBytes: 2100 }), { ok: 1, splitKeys: [{ a: 1 }, { a: 3 }] })
  const first = await collectionOf(upTo(4), { version: '6.0.2' })
  t.match(await first({ maxChunkSizeBytes: 2100 }), { code: 72 })
})
