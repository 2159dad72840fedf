/** Manual: core/sharding-shard-key-indexes, enforce unique keys. */
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Shards } from './support/shards.js'

async function sharded(key: Document, version: EmulatedVersion = '7.0') {
  const shards = new Shards({ version })
  const { error } = await shards.shardCollection('db.c', { key })
  if (error !== null) throw new Error(JSON.stringify(error))
  const shardVersion = shards.config.version('db.c', 'shard01')
  const create = (index: Document, options: Document = {}) => ({
    createIndexes: 'c',
    indexes: [{ key: index, name: 'u', unique: true, ...options }],
  })
  return {
    shards,
    routed: (index: Document, options?: Document) => shards.routed('shard01', create(index, options), { shardVersion }),
    direct: (index: Document) => shards.direct('shard01', create(index)),
  }
}

t.test('unique indexes must begin with the fields of the shard key, or with _id', async (t) => {
  for (const [index, allowed] of [
    [{ a: 1, b: 1 }, true],
    [{ a: 1, b: 1, c: 1 }, true],
    [{ a: -1, b: 1 }, true],
    [{ _id: 1, z: 1 }, true],
    [{ a: 1 }, false],
    [{ b: 1, a: 1 }, false],
    [{ z: 1 }, false],
  ] as [Document, boolean][]) {
    const { routed } = await sharded({ a: 1, b: 1 })
    const reply = await routed(index)
    t.match(reply, allowed ? { ok: 1 } : { code: 67, codeName: 'CannotCreateIndex' }, JSON.stringify(index))
  }
  const { routed, shards } = await sharded({ a: 1 })
  t.match(await routed({ z: 1 }), {
    errmsg: 'cannot create unique index over { z: 1 } with shard key pattern { a: 1 }',
  })
  const list = await shards.direct('shard01', { listIndexes: 'c' })
  t.equal(((list['cursor'] as Document)['firstBatch'] as Document[]).length, 2, 'nothing was made')
  t.match(await routed({ z: 1 }, { unique: false }), { ok: 1 })
  t.match(await routed({ a: 'hashed' }), { ok: 0 }, 'a hashed index is never unique')
  const hashed = await sharded({ a: 'hashed' })
  t.match(await hashed.routed({ a: 1 }), { ok: 1 }, 'the way to unique values of a hashed field')
  t.match(await hashed.routed({ b: 1 }, { name: 'b' }), { code: 67 })
})

t.test('prepareUnique counts as unique since 8.0', async (t) => {
  const prepared = { unique: false, prepareUnique: true }
  t.match(await (await sharded({ a: 1 }, '8.0')).routed({ z: 1 }, prepared), {
    code: 67,
    errmsg: "cannot create index with 'unique' or 'prepareUnique' option over { z: 1 } with shard key pattern { a: 1 }",
  })
  t.match(await (await sharded({ a: 1 }, '7.0')).routed({ z: 1 }, prepared), { ok: 1 })
})

t.test('until 4.4 a direct connection cannot build a unique index that the key does not allow', async (t) => {
  for (const version of ['2.6', '4.4'] as const)
    t.match(await (await sharded({ a: 1 }, version)).direct({ z: 1 }), { code: 67 }, version)
  for (const version of ['5.0', '8.0'] as const)
    t.match(await (await sharded({ a: 1 }, version)).direct({ z: 1 }), { ok: 1 }, version)
})

t.test('two shards may have the same _id, and a missing value counts as null', async (t) => {
  const { shards, routed } = await sharded({ a: 'hashed' })
  for (const shard of ['shard01', 'shard02'])
    t.match(await shards.direct(shard, { insert: 'c', documents: [{ _id: 1, a: shard }] }), { n: 1 })
  t.match(await routed({ a: 1, u: 1 }), { ok: 1 })
  t.match(await shards.direct('shard01', { insert: 'c', documents: [{ _id: 2, a: 5 }] }), { n: 1 })
  t.match(await shards.direct('shard01', { insert: 'c', documents: [{ _id: 3, a: 5, u: null }] }), {
    writeErrors: [{ code: 11000 }],
  })
})

t.test('checkShardingIndex names the reason why no index serves', async (t) => {
  const shards = new Shards({ version: '7.0' })
  const run = (keyPattern: unknown, from = shards) =>
    from.direct('shard01', { checkShardingIndex: 'db.c', keyPattern, $db: 'admin' })
  /** Its errors have no code. */
  const failure = async (keyPattern: unknown, from = shards) => {
    const { errmsg, code } = await run(keyPattern, from)
    return [errmsg, code]
  }
  t.same(await failure({ a: 1 }), ['ns not found', undefined])
  t.match(await run({ _id: 'hashed' }), { idskip: true, ok: 1 })
  t.same(await failure({}), ['no key pattern found in checkShardingindex', undefined])
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'i' }] })
  t.match(await run({ a: 1 }), { ok: 1 })
  t.match(await run({ b: 1 }), { ok: 0, errmsg: /^couldn't find valid index for shard key\nIndex _id_ / })
  await shards.direct('shard01', { collMod: 'c', index: { name: 'i', hidden: true } })
  t.match(await run({ a: 1 }), { ok: 0 }, 'hidden indexes do not count')
  const old = new Shards({ version: '4.0' })
  await old.direct('shard01', { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'i' }] })
  await old.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: null }] })
  t.match(await run({ a: 1 }, old), { ok: 1 })
  await old.direct('shard01', { insert: 'c', documents: [{ _id: 2 }] })
  t.same(await failure({ a: 1 }, old), ['found missing value in key { : null } for doc: { _id: 2 }', undefined])
})
