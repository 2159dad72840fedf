import { type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Shards } from './support/shards.js'

async function sharded(
  key: Document,
  version: EmulatedVersion = '8.0',
): Promise<{ shards: Shards; run: (command: Document) => Promise<Document> }> {
  const shards = new Shards({ version })
  await shards.shardCollection('db.c', { key })
  const shardVersion = shards.config.version('db.c', 'shard01')
  return { shards, run: (command) => shards.routed('shard01', command, { shardVersion }) }
}

const names = async (run: (command: Document) => Promise<Document>) =>
  ((await run({ listIndexes: 'c' }))['cursor'] as { firstBatch: Document[] }).firstBatch.map((index) => index['name'])

t.test('the last index that supports the shard key cannot be dropped', async (t) => {
  const { run } = await sharded({ a: 1 })
  await run({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }] })
  t.match(await run({ dropIndexes: 'c', index: 'a_1' }), { code: 370, codeName: 'CannotDropShardKeyIndex' })
  t.match(await run({ dropIndexes: 'c', index: { a: 1 } }), { code: 370 })
  t.match(await run({ collMod: 'c', index: { name: 'a_1', hidden: true } }), {
    code: 72,
    errmsg: /Can't hide the only compatible index for this collection's shard key$/,
  })
  t.match(await run({ dropIndexes: 'c', index: '*' }), {
    nIndexesWas: 3,
    msg: 'non-_id indexes and non-shard key indexes dropped for collection',
  })
  t.same(await names(run), ['_id_', 'a_1'])
  await run({ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'a_1_b_1' }] })
  t.match(await run({ dropIndexes: 'c', index: 'a_1' }), { ok: 1 }, 'another index serves as well')
  t.match(await run({ dropIndexes: 'c', index: 'a_1_b_1' }), { code: 370 })
})

t.test('a hashed one can be dropped except in 6.0.2, and any one in old versions', async (t) => {
  for (const [version, ranged, hashed] of [
    ['2.6', 1, 1],
    ['4.4', 1, 1],
    ['5.0', 0, 1],
    ['6.0.2', 0, 0],
    ['6.0', 0, 1],
    ['8.0', 0, 1],
  ] as [EmulatedVersion, number, number][]) {
    const withRanged = await sharded({ a: 1 }, version)
    t.match(
      await withRanged.run({ dropIndexes: 'c', index: 'a_1' }),
      ranged === 1 ? { ok: 1 } : { code: 370 },
      `${version} ranged`,
    )
    const withHashed = await sharded({ a: 'hashed' }, version)
    t.match(
      await withHashed.run({ dropIndexes: 'c', index: 'a_hashed' }),
      hashed === 1 ? { ok: 1 } : { code: 370 },
      `${version} hashed`,
    )
  }
})

t.test('before 6.0.3 the last one can be hidden', async (t) => {
  for (const [version, mayBeHidden] of [
    ['4.4', true],
    ['6.0.2', true],
    ['6.0', false],
  ] as [EmulatedVersion, boolean][]) {
    const { run } = await sharded({ a: 1 }, version)
    t.match(
      await run({ collMod: 'c', index: { name: 'a_1', hidden: true } }),
      mayBeHidden ? { ok: 1 } : { code: 72 },
      version,
    )
  }
})

t.test('shard key paths with dollar signs are refused', async (t) => {
  for (const [version, code] of [
    ['4.0', 67],
    ['4.4', 2],
    ['6.0.2', 67],
    ['6.0', 2],
  ] as [EmulatedVersion, number][]) {
    const { error } = await new Shards({ version }).shardCollection('db.c', { key: { $a: 1 } })
    t.equal(error?.code, code, version)
  }
})

t.test('a drop of several indexes is refused when no index would support the key', async (t) => {
  const { run } = await sharded({ a: 1 })
  await run({ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'a_1_b_1' }] })
  t.match(await run({ dropIndexes: 'c', index: ['a_1', 'a_1_b_1'] }), { code: 370 })
  t.same(await names(run), ['_id_', 'a_1', 'a_1_b_1'])
  t.match(await run({ dropIndexes: 'c', index: '*' }), { ok: 1 })
  t.same(await names(run), ['_id_', 'a_1', 'a_1_b_1'], 'both support the key, both stay')
  t.match(await run({ collMod: 'c', index: { name: 'a_1', hidden: true } }), { ok: 1 })
  t.match(await run({ dropIndexes: 'c', index: 'a_1_b_1' }), { code: 370 }, 'hidden indexes do not count')
})

t.test('invalid shard keys and collections are refused', async (t) => {
  const cases: [create: Document, body: Document, error: Document][] = [
    [{ viewOn: 'x', pipeline: [] }, {}, { code: 166, errmsg: 'Namespace db.c is a view, not a collection' }],
    [{ capped: true, size: 4096 }, {}, { code: 72, errmsg: "can't shard a capped collection" }],
    [
      { collation: { locale: 'de' } },
      {},
      {
        code: 2,
        errmsg:
          /^If no collation was specified, the collection collation must be {locale: 'simple'}, but found: { locale: "de"/,
      },
    ],
  ]
  for (const [create, body, error] of cases) {
    const shards = new Shards()
    t.match(await shards.direct('shard01', { create: 'c', ...create }), { ok: 1 })
    t.match((await shards.shardCollection('db.c', { key: { _id: 1 }, ...body })).error, error)
  }
  const shards = new Shards()
  await shards.direct('shard01', { create: 'c', collation: { locale: 'de' } })
  t.match((await shards.shardCollection('db.c', { key: { _id: 1 }, collation: { locale: 'simple' } })).error, {
    code: 2,
    errmsg: /^The _id index must have the same collation as the collection/,
  })
  t.equal((await shards.shardCollection('db.c', { key: { a: 1 }, collation: { locale: 'simple' } })).error, null)
  const made = ((await shards.direct('shard01', { listIndexes: 'c' }))['cursor'] as { firstBatch: Document[] })
    .firstBatch[1]
  t.same(made, { v: 2, key: { a: 1 }, name: 'a_1' }, 'of the simple collation')
})
