import { createDeferred } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

async function drop(shards: Shards, ns: string): Promise<Document> {
  const { primary, version } = shards.config.databases.get(ns.split('.', 1)[0]!)!
  const { error, ...rest } = await shards.send(primary, 'shard.drop-collection', { ns, collectionUuid: null, databaseVersion: version })
  return { ...rest, error: error === null ? null : decode(error) }
}

t.test('a sharded collection: catalog first, then data everywhere', async (t) => {
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

t.test('an unsharded collection, and one that is not there', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1 }] })
  t.same(await drop(shards, 'db.c'), { existed: true, indexCount: 1, error: null })
  t.match(await shards.direct('shard01', { listIndexes: 'c' }), { code: 26 })
  t.same(await drop(shards, 'db.c'), { existed: false, indexCount: null, error: null })
})

t.test('only by the primary shard, with its version', async (t) => {
  const shards = new Shards()
  const { version } = shards.config.databases.get('db')!
  const { error } = await shards.send('shard02', 'shard.drop-collection', { ns: 'db.c', collectionUuid: null, databaseVersion: version })
  t.match(decode(error!), { code: 249, db: 'db', vReceived: { lastMod: 1 }, vWanted: { lastMod: 1 } })
  const stale = await shards.send('shard01', 'shard.drop-database', { db: 'db', databaseVersion: [version[0], version[1], version[2], 7] })
  t.match(decode(stale.error!), { code: 249 })
})

t.test('interrupted after the commit: the drop is done again', async (t) => {
  const shards = new Shards()
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  const context = shards.contexts.get('shard01')!
  context.failing.add('shard.drop-collection.committed')
  t.match(await drop(shards, 'db.c'), { error: { code: 96 } })
  t.equal(shards.config.collections.size, 0)
  context.failing.clear()
  t.match(await drop(shards, 'db.c'), { error: null })
  t.match(await shards.direct('shard01', { listIndexes: 'c' }), { code: 26 })
})

t.test('D403 a shard that is down: the drop is done as far as it goes, and a repetition finishes it, after a restart too', async (t) => {
  for (const restart of [false, true]) {
    const shards = new Shards()
    await shards.shardCollection('db.c', { key: { a: 'hashed' } })
    await shards.routed(
      'shard02',
      { insert: 'c', documents: [{ _id: 1, a: 1 }] },
      { shardVersion: shards.config.version('db.c', 'shard02') },
    )
    shards.down.add('shard02')
    t.match(await drop(shards, 'db.c'), { error: { code: 133 } })
    t.equal(shards.config.collections.size, 0, 'no router finds it')
    t.match(await shards.direct('shard01', { listIndexes: 'c' }), { code: 26 })
    if (restart) shards.restart('shard01')
    t.match(await drop(shards, 'db.c'), { error: { code: 133 } }, 'still down')
    shards.down.clear()
    t.match(await shards.direct('shard02', { count: 'c' }), { n: 1 })
    t.match(await drop(shards, 'db.c'), { existed: true, error: null })
    t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
    t.same(await drop(shards, 'db.c'), { existed: false, indexCount: null, error: null }, 'nothing is left to do')
  }
})

t.test('a database, with a shard that is down', async (t) => {
  const shards = new Shards()
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  await shards.routed('shard02', { insert: 'c', documents: [{ _id: 1, a: 1 }] }, { shardVersion: shards.config.version('db.c', 'shard02') })
  const { version } = shards.config.databases.get('db')!
  const dropDatabase = () => shards.send('shard01', 'shard.drop-database', { db: 'db', databaseVersion: version })
  shards.down.add('shard02')
  t.match(decode((await dropDatabase()).error!), { code: 133 })
  t.same([shards.config.collections.size, shards.config.databases.has('db')], [0, true], 'the database goes last')
  shards.down.clear()
  t.same(await dropDatabase(), { error: null })
  t.equal(shards.config.databases.has('db'), false)
  t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
})

t.test('a view', async (t) => {
  const shards = new Shards()
  t.match(await shards.direct('shard01', { create: 'v', viewOn: 'c', pipeline: [] }), { ok: 1 })
  t.same(await drop(shards, 'db.v'), { existed: true, indexCount: null, error: null })
  t.same(await drop(shards, 'db.v'), { existed: false, indexCount: null, error: null })
})

t.test('a database', async (t) => {
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
  t.match(await shards.routed('shard01', { find: 'u' }, { shardVersion: 'UNSHARDED', databaseVersion: version }), { code: 249 })
  t.same(
    shards.config.changes.slice(-2).map(([what]) => what),
    ['dropDatabase.start', 'dropDatabase'],
  )
})

t.test('commands on a database wait while it is dropped', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'u', documents: [{ _id: 1 }] })
  const { version } = shards.config.databases.get('db')!
  await shards.routed('shard01', { find: 'u' }, { shardVersion: 'UNSHARDED', databaseVersion: version })
  const gate = createDeferred<void>()
  const context = shards.contexts.get('shard01')!
  context.pausing.set('shard.drop-database.committed', gate.promise)
  const dropping = shards.send('shard01', 'shard.drop-database', { db: 'db', databaseVersion: version })
  while (!context.reached.includes('shard.drop-database.committed')) await Promise.resolve()
  const write = shards.routed('shard01', { insert: 'u', documents: [{ _id: 2 }] }, { shardVersion: 'UNSHARDED', databaseVersion: version })
  gate.resolve()
  t.match(await write, { code: 249 })
  t.same(await dropping, { error: null })
  t.same(((await shards.direct('shard01', { listCollections: 1 })) as { cursor: Document }).cursor['firstBatch'], [])
})
