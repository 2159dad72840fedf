import { createDeferred } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

async function drop(shards: Shards, ns: string): Promise<Document> {
  const { primary, version } = shards.config.databases.get(ns.split('.', 1)[0]!)!
  const { error, ...rest } = await shards.send(primary, 'shard.drop-collection', {
    ns,
    collectionUuid: null,
    databaseVersion: version,
  })
  return { ...rest, error: error === null ? null : decode(error) }
}

t.test('a sharded collection is dropped from the catalog first, then from all shards', async (t) => {
  const shards = new Shards()
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  const old = shards.config.version('db.c', 'shard02')
  await shards.routed('shard02', { insert: 'c', documents: [{ _id: 1, a: 1 }] }, { shardVersion: old })
  t.same(await drop(shards, 'db.c'), { existed: true, indexCount: 2, error: null })
  t.equal(shards.config.collections.size, 0)
  for (const shard of shards.config.shards) t.match(await shards.direct(shard, { listIndexes: 'c' }), { code: 26 })
  t.match(await shards.routed('shard02', { find: 'c' }, { shardVersion: old }), { code: 13388 })
  t.same(
    shards.config.changes.slice(-2).map(([what, ns]) => [what, ns]),
    [
      ['dropCollection.start', 'db.c'],
      ['dropCollection', 'db.c'],
    ],
  )
  t.equal((await shards.shardCollection('db.c', { key: { b: 1 } })).error, null, 'the name is free')
})

t.test('an unsharded collection is dropped, and a missing one is reported', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1 }] })
  t.same(await drop(shards, 'db.c'), { existed: true, indexCount: 1, error: null })
  t.match(await shards.direct('shard01', { listIndexes: 'c' }), { code: 26 })
  t.same(await drop(shards, 'db.c'), { existed: false, indexCount: null, error: null })
})

t.test('only the primary shard drops, and only with the current database version', async (t) => {
  const shards = new Shards()
  const { version } = shards.config.databases.get('db')!
  const { error } = await shards.send('shard02', 'shard.drop-collection', {
    ns: 'db.c',
    collectionUuid: null,
    databaseVersion: version,
  })
  t.match(decode(error!), { code: 249, db: 'db', vReceived: { lastMod: 1 }, vWanted: { lastMod: 1 } })
  const stale = await shards.send('shard01', 'shard.drop-database', {
    db: 'db',
    databaseVersion: [version[0], version[1], version[2], 7],
  })
  t.match(decode(stale.error!), { code: 249 })
})

/** Resolves when the coordinator is blocked and pauses before its next attempt. */
async function pausing(shards: Shards): Promise<void> {
  const { sleeps } = shards.contexts.get('shard01')!
  const before = sleeps.length
  while (sleeps.length === before) await Promise.resolve()
}

const begun = async (shards: Shards) =>
  (
    await shards.direct('shard01', {
      count: 'system.sharding_ddl_coordinators',
      query: { _id: { $exists: true } },
      $db: 'config',
    })
  )['n'] as number

t.test('a drop that is interrupted after the commit completes', async (t) => {
  const shards = new Shards()
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  const context = shards.contexts.get('shard01')!
  context.failing.add('shard.drop-collection.committed')
  const dropping = drop(shards, 'db.c')
  await pausing(shards)
  t.equal(shards.config.collections.size, 0)
  context.failing.clear()
  t.match(await dropping, { error: null })
  t.match(await shards.direct('shard01', { listIndexes: 'c' }), { code: 26 })
})

/** A collection with a document on shard02, which is down. */
async function withShardDown(): Promise<Shards> {
  const shards = new Shards()
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  await shards.routed(
    'shard02',
    { insert: 'c', documents: [{ _id: 1, a: 1 }] },
    { shardVersion: shards.config.version('db.c', 'shard02') },
  )
  shards.down.add('shard02')
  return shards
}

t.test('a drop waits for a shard that is down, and a repeated request joins it', async (t) => {
  const shards = await withShardDown()
  const [first, second] = [drop(shards, 'db.c'), drop(shards, 'db.c')]
  await pausing(shards)
  t.equal(shards.config.collections.size, 0, 'it is not in the catalog')
  t.match(await shards.direct('shard01', { listIndexes: 'c' }), { code: 26 })
  t.equal(await begun(shards), 1)
  shards.down.clear()
  t.match(await first, { existed: true, error: null })
  t.match(await second, { existed: true, error: null })
  t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
  t.equal(await begun(shards), 0)
  t.same(await drop(shards, 'db.c'), { existed: false, indexCount: null, error: null }, 'the drop is complete')
})

t.test('a restarted coordinator completes the drop, and blocks the collection until then', async (t) => {
  const shards = await withShardDown()
  const context = shards.contexts.get('shard01')!
  context.holdSleeps = true
  const dropping = drop(shards, 'db.c')
  await pausing(shards)
  shards.restart('shard01')
  t.match(await dropping, { error: Object })
  await pausing(shards)
  const { version: databaseVersion } = shards.config.databases.get('db')!
  let answered = false
  void shards
    .routed('shard01', { find: 'c' }, { shardVersion: 'UNSHARDED', databaseVersion })
    .then(() => (answered = true))
  for (let turns = 0; turns < 1000; turns++) await Promise.resolve()
  t.equal(answered, false)
  shards.down.clear()
  shards.restart('shard01')
  while ((await begun(shards)) > 0) await Promise.resolve()
  t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
  t.equal((await shards.shardCollection('db.c', { key: { b: 1 } })).error, null)
})

t.test("a drop removes an unsharded collection's copy on another shard", async (t) => {
  const shards = new Shards()
  for (const shard of ['shard01', 'shard02']) await shards.direct(shard, { insert: 'c', documents: [{ _id: 1 }] })
  t.same(await drop(shards, 'db.c'), { existed: true, indexCount: 1, error: null })
  t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
})

t.test('a drop of a database waits for a shard that is down', async (t) => {
  for (const restarts of [false, true]) {
    const shards = await withShardDown()
    const { version } = shards.config.databases.get('db')!
    shards.contexts.get('shard01')!.holdSleeps = restarts
    const dropping = shards.send('shard01', 'shard.drop-database', { db: 'db', databaseVersion: version })
    await pausing(shards)
    t.same([shards.config.collections.size, shards.config.databases.has('db')], [0, true], 'the database goes last')
    shards.down.clear()
    if (restarts) {
      shards.restart('shard01')
      t.match(await dropping, { error: Object })
      while ((await begun(shards)) > 0) await Promise.resolve()
    } else t.same(await dropping, { error: null })
    t.equal(shards.config.databases.has('db'), false)
    t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
  }
})

t.test('a view is dropped', async (t) => {
  const shards = new Shards()
  t.match(await shards.direct('shard01', { create: 'v', viewOn: 'c', pipeline: [] }), { ok: 1 })
  t.same(await drop(shards, 'db.v'), { existed: true, indexCount: null, error: null })
  t.same(await drop(shards, 'db.v'), { existed: false, indexCount: null, error: null })
})

t.test('a database is dropped, its catalog entry last', async (t) => {
  const shards = new Shards()
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  await shards.direct('shard01', { insert: 'u', documents: [{ _id: 1 }] })
  const { version } = shards.config.databases.get('db')!
  t.same(await shards.send('shard01', 'shard.drop-database', { db: 'db', databaseVersion: version }), { error: null })
  t.equal(shards.config.databases.has('db'), false)
  for (const shard of shards.config.shards) {
    const list = await shards.direct(shard, { listCollections: 1 })
    t.same((list['cursor'] as Document)['firstBatch'], [])
  }
  t.match(await shards.routed('shard01', { find: 'u' }, { shardVersion: 'UNSHARDED', databaseVersion: version }), {
    code: 249,
  })
  t.same(
    shards.config.changes.slice(-2).map(([what]) => what),
    ['dropDatabase.start', 'dropDatabase'],
  )
})

t.test('commands on a database are blocked while it is dropped', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'u', documents: [{ _id: 1 }] })
  const { version } = shards.config.databases.get('db')!
  await shards.routed('shard01', { find: 'u' }, { shardVersion: 'UNSHARDED', databaseVersion: version })
  const gate = createDeferred<void>()
  const context = shards.contexts.get('shard01')!
  context.pausing.set('shard.drop-database.committed', gate.promise)
  const dropping = shards.send('shard01', 'shard.drop-database', { db: 'db', databaseVersion: version })
  while (!context.reached.includes('shard.drop-database.committed')) await Promise.resolve()
  const write = shards.routed(
    'shard01',
    { insert: 'u', documents: [{ _id: 2 }] },
    { shardVersion: 'UNSHARDED', databaseVersion: version },
  )
  gate.resolve()
  t.match(await write, { code: 249 })
  t.same(await dropping, { error: null })
  t.same(((await shards.direct('shard01', { listCollections: 1 })) as { cursor: Document }).cursor['firstBatch'], [])
})
