import { type Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

async function sharded(
  key: Document,
  version: '5.0' | '8.0' = '8.0',
): Promise<{ shards: Shards; run: (command: Document) => Promise<Document> }> {
  const shards = new Shards({ version })
  await shards.shardCollection('db.c', { key })
  const shardVersion = shards.config.version('db.c', 'shard01')
  return { shards, run: (command) => shards.routed('shard01', command, { shardVersion }) }
}

const names = async (run: (command: Document) => Promise<Document>) =>
  ((await run({ listIndexes: 'c' }))['cursor'] as { firstBatch: Document[] }).firstBatch.map((index) => index['name'])

t.test('the last index of the shard key stays', async (t) => {
  const { run } = await sharded({ a: 1 })
  await run({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }] })
  t.match(await run({ dropIndexes: 'c', index: 'a_1' }), { code: 370, codeName: 'CannotDropShardKeyIndex' })
  t.match(await run({ dropIndexes: 'c', index: { a: 1 } }), { code: 370 })
  t.match(await run({ collMod: 'c', index: { name: 'a_1', hidden: true } }), { ok: 0 }, 'nor can it be hidden')
  t.match(await run({ dropIndexes: 'c', index: '*' }), {
    nIndexesWas: 3,
    msg: 'non-_id indexes and non-shard key indexes dropped for collection',
  })
  t.same(await names(run), ['_id_', 'a_1'])
  await run({ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'a_1_b_1' }] })
  t.match(await run({ dropIndexes: 'c', index: 'a_1' }), { ok: 1 }, 'another one does as well')
  t.match(await run({ dropIndexes: 'c', index: 'a_1_b_1' }), { code: 370 })
})

t.test('a hashed one may go, and in old versions any', async (t) => {
  const hashed = await sharded({ a: 'hashed' })
  t.match(await hashed.run({ dropIndexes: 'c', index: 'a_hashed' }), { ok: 1 })
  const old = await sharded({ a: 1 }, '5.0')
  t.match(await old.run({ dropIndexes: 'c', index: 'a_1' }), { ok: 1 })
})

t.test('what cannot be sharded', async (t) => {
  const cases: [create: Document, body: Document, error: Document][] = [
    [{ viewOn: 'x', pipeline: [] }, {}, { code: 166, errmsg: 'Views cannot be sharded.' }],
    [{ capped: true, size: 4096 }, {}, { code: 72, errmsg: "can't shard a capped collection" }],
    [{ collation: { locale: 'de' } }, {}, { code: 2, errmsg: 'If no collation was specified, the collection collation must be simple' }],
  ]
  for (const [create, body, error] of cases) {
    const shards = new Shards()
    t.match(await shards.direct('shard01', { create: 'c', ...create }), { ok: 1 })
    t.match((await shards.shardCollection('db.c', { key: { _id: 1 }, ...body })).error, error)
  }
  const shards = new Shards()
  await shards.direct('shard01', { create: 'c', collation: { locale: 'de' } })
  t.equal((await shards.shardCollection('db.c', { key: { _id: 1 }, collation: { locale: 'simple' } })).error, null)
})

t.test('shardCollection with a shard down is finished by a repetition', async (t) => {
  const shards = new Shards()
  shards.down.add('shard03')
  t.match((await shards.shardCollection('db.c', { key: { a: 'hashed' } })).error, { code: 133 })
  t.equal(shards.config.collections.size, 0)
  shards.down.clear()
  t.equal((await shards.shardCollection('db.c', { key: { a: 'hashed' } })).error, null)
  t.equal(shards.config.collections.size, 1)
  for (const shard of shards.config.shards) t.match(await shards.direct(shard, { listIndexes: 'c' }), { ok: 1 })
})
