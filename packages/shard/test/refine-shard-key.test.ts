/** Manual: reference/command/refineCollectionShardKey. */
import { decode, encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Shards } from './support/shards.js'

async function sharded(key: Document, { version = '7.0' as EmulatedVersion, unique = false } = {}): Promise<Shards> {
  const shards = new Shards({ version })
  const { error } = await shards.shardCollection('db.c', { key, unique })
  if (error !== null) throw new Error(JSON.stringify(error))
  return shards
}

async function refine(shards: Shards, key: Document, enforceUniqueness = true): Promise<Document | null> {
  const { version } = shards.config.databases.get('db')!
  const { error } = await shards.send('shard01', 'shard.refine-collection-shard-key', {
    ns: 'db.c',
    key: encode(key),
    enforceUniqueness,
    collectionUuid: null,
    databaseVersion: version,
  })
  return error === null ? null : decode(error)
}

const index = (shards: Shards, key: Document, options: Document = {}) =>
  shards.direct('shard01', { createIndexes: 'c', indexes: [{ key, name: 'i', ...options }] })

t.test('a refined key appends fields, and documents without them stay on their shards', async (t) => {
  const shards = await sharded({ a: 1 })
  await shards.direct('shard01', {
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 2, b: 5 },
    ],
  })
  await index(shards, { a: 1, b: 1 })
  const before = shards.config.version('db.c', 'shard01')
  t.equal(await refine(shards, { a: 1, b: 1 }), null)
  t.same(decode(shards.config.collections.get('db.c')!.key), { a: 1, b: 1 })
  t.same(shards.chunksOf('db.c'), ['MinKey,MinKey shard01'])
  const after = shards.config.version('db.c', 'shard01')
  t.not(after[0], before[0], 'another generation')
  t.same(await shards.ids('shard01', { find: 'c', sort: { _id: 1 } }, { shardVersion: after }), [1, 2])
  t.match(
    await shards.routed('shard01', { find: 'c' }, { shardVersion: before }),
    { code: 13388 },
    'routers with the old version are stale',
  )
  t.equal(await refine(shards, { a: 1, b: 1 }), null, 'a repetition has no effect')
  t.same(shards.config.version('db.c', 'shard01'), after)
})

t.test('a refused refineCollectionShardKey changes nothing', async (t) => {
  const outcome = async (
    key: Document,
    to: Document,
    prepare: (shards: Shards) => Promise<unknown> = async () => {},
    options = {},
  ) => {
    const shards = await sharded(key, options)
    await prepare(shards)
    const { epoch } = shards.config.collections.get('db.c')!
    const error = await refine(shards, to)
    if (error !== null) t.equal(shards.config.collections.get('db.c')!.epoch, epoch)
    return error
  }
  t.match(await outcome({ a: 1 }, { a: 5 }), { code: 2 })
  t.match(await outcome({ a: 1 }, {}), { code: 2, errmsg: 'Shard key is empty' })
  t.match(await outcome({ a: 'hashed' }, { a: 'hashed', b: 'hashed' }), { code: 2 })
  t.match(await outcome({ a: 1 }, { b: 1 }), {
    code: 72,
    errmsg: 'refineCollectionShardKey shard key { b: 1 } does not extend the current shard key { a: 1 }',
  })
  t.match(await outcome({ a: 1, b: 1 }, { a: 1 }), { code: 72, errmsg: /does not extend/ })
  t.match(await outcome({ a: 1, b: 1 }, { b: 1, a: 1, c: 1 }), { code: 72, errmsg: /does not extend/ })
  const wanted = { a: 1, b: 1 }
  const please =
    "Please create an index that starts with the proposed shard key before refining the collection's shard key. "
  t.match(
    await outcome({ a: 1 }, wanted),
    { code: 72, errmsg: please },
    'never built automatically, even for an empty collection',
  )
  for (const version of ['6.0.2', '6.0'] as const)
    t.match(await outcome({ a: 1 }, wanted, async () => {}, { version }), {
      code: 72,
      errmsg: 'Please create an index that starts with the proposed shard key before sharding the collection. ',
    })
  t.match(await outcome({ a: 1 }, wanted, async () => {}, { version: '5.0' }), {
    code: 72,
    errmsg:
      'Please create an index that starts with the proposed shard key before refining the shard key of the collection',
  })
  t.match(await outcome({ a: 1 }, wanted, (shards) => index(shards, wanted, { sparse: true })), {
    code: 72,
    errmsg: /Index key is sparse/,
  })
  const partial = (shards: Shards) => index(shards, wanted, { partialFilterExpression: { a: 1 } })
  t.match(await outcome({ a: 1 }, wanted, partial), { code: 72, errmsg: /Index key is partial/ })
  t.match(await outcome({ a: 1 }, wanted, partial, { version: '4.4' }), {
    code: 96,
    errmsg: "couldn't find valid index for shard key",
  })
  const multikey = async (shards: Shards) => {
    await index(shards, wanted)
    await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: 1, b: [1, 2] }] })
  }
  t.match(await outcome({ a: 1 }, wanted, multikey), { code: 72, errmsg: /Index key is multikey/ })
  const unsharded = new Shards()
  t.match(await refine(unsharded, wanted), { code: 118, errmsg: 'Expected collection db.c to be sharded' })
  t.match(await refine(new Shards({ version: '4.4' }), wanted), {
    code: 118,
    errmsg: 'Collection db.c is not sharded.',
  })
})

t.test('a unique key stays unique, with an index on exactly the new key', async (t) => {
  const shards = await sharded({ a: 1 }, { unique: true })
  await index(shards, { a: 1, b: 1, c: 1 })
  t.match(
    await refine(shards, { a: 1, b: 1 }),
    { code: 72, errmsg: /with unique index on \{ a: 1 \}/ },
    'the index on the old key conflicts',
  )
  t.equal((await shards.direct('shard01', { dropIndexes: 'c', index: 'a_1' }))['ok'], 1)
  t.match(
    await refine(shards, { a: 1, b: 1 }),
    { code: 72, errmsg: /before refining/ },
    'an index on exactly the new key is required',
  )
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'ab', unique: true }] })
  t.equal(await refine(shards, { a: 1, b: 1 }), null)
  t.equal(shards.config.collections.get('db.c')!.unique, true)
  const trusting = await sharded({ a: 1 })
  await index(trusting, { a: 1, b: 1 })
  t.equal(await refine(trusting, { a: 1, b: 1 }, false), null)
})

t.test('a unique index that the longer key does not allow is refused', async (t) => {
  const shards = await sharded({ a: 1 })
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: { a: 1, x: 1 }, name: 'ax', unique: true }] })
  await index(shards, { a: 1, b: 1 })
  t.match(await refine(shards, { a: 1, b: 1 }), {
    code: 72,
    errmsg: /^can't shard collection 'db\.c' with unique index on \{ a: 1, x: 1 \}/,
  })
})

t.test('the owner of the lowest chunk checks its indexes', async (t) => {
  const shards = await sharded({ a: 'hashed' }, { version: '6.0' })
  shards.config.move('db.c', 0, 'shard03')
  for (const shard of ['shard01', 'shard02'])
    await shards.direct(shard, { createIndexes: 'c', indexes: [{ key: { a: 'hashed', b: 1 }, name: 'i' }] })
  t.match(await refine(shards, { a: 'hashed', b: 1 }), { code: 72 })
  await shards.direct('shard03', { createIndexes: 'c', indexes: [{ key: { a: 'hashed', b: 1 }, name: 'i' }] })
  t.equal(await refine(shards, { a: 'hashed', b: 1 }), null)
  for (const shard of shards.config.shards)
    t.match(
      await shards.routed(shard, { find: 'c' }, { shardVersion: shards.config.version('db.c', shard) }),
      { ok: 1 },
      shard,
    )
})

t.test('an interrupted refineCollectionShardKey can be repeated', async (t) => {
  for (const step of ['validated', 'committed']) {
    const shards = await sharded({ a: 1 })
    await index(shards, { a: 1, b: 1 })
    const context = shards.contexts.get('shard01')!
    context.failing.add(`shard.refine-shard-key.${step}`)
    t.match(await refine(shards, { a: 1, b: 1 }), { code: 96 })
    context.failing.clear()
    t.same(decode(shards.config.collections.get('db.c')!.key), step === 'committed' ? { a: 1, b: 1 } : { a: 1 })
    t.equal(await refine(shards, { a: 1, b: 1 }), null, 'a repetition finds it done, or does it')
    t.match(await shards.routed('shard01', { find: 'c' }, { shardVersion: shards.config.version('db.c', 'shard01') }), {
      ok: 1,
    })
  }
})
