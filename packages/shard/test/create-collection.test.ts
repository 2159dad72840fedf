import { createDeferred } from '@shardlab/actor'
import { decode, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

const indexNames = async (shards: Shards, shard: string, collection = 'c') => {
  const reply = await shards.direct(shard, { listIndexes: collection })
  return reply['ok'] === 1
    ? ((reply['cursor'] as Document)['firstBatch'] as Document[]).map((index) => index['name'])
    : null
}

t.test('an empty collection with a ranged key gets one chunk on the primary shard, and an index', async (t) => {
  const shards = new Shards()
  const { uuid, error } = await shards.shardCollection('db.c', { key: { a: 1, b: 1 } })
  t.equal(error, null)
  t.same(shards.chunksOf('db.c'), ['MinKey,MinKey shard01'])
  t.same(await indexNames(shards, 'shard01'), ['_id_', 'a_1_b_1'])
  t.equal(await indexNames(shards, 'shard02'), null, 'a shard without chunks has no collection')
  t.same(shards.config.collections.get('db.c')!.uuid, uuid)
  t.match(shards.config.changes, [
    ['shardCollection.start', 'db.c', { shardKey: { a: 1, b: 1 }, collection: 'db.c', primary: 'shard01' }],
    ['shardCollection.end', 'db.c', { placementVersion: /^1\|0\|\|/, empty: true, numChunks: Long.fromNumber(1) }],
  ])
  t.match(
    await shards.routed(
      'shard01',
      { insert: 'c', documents: [{ _id: 1, a: 1 }] },
      { shardVersion: shards.config.version('db.c', 'shard01') },
    ),
    { n: 1 },
  )
})

t.test('the key {_id: 1} uses the index on _id', async (t) => {
  const shards = new Shards()
  t.equal((await shards.shardCollection('db.c', { key: { _id: 1 } })).error, null)
  t.same(await indexNames(shards, 'shard01'), ['_id_'])
})

t.test(
  'an empty collection with a hashed key gets chunks on every shard, and the collection and indexes there',
  async (t) => {
    const shards = new Shards({ version: '6.0' })
    const { uuid } = await shards.shardCollection('db.c', { key: { a: 'hashed' } })
    t.same(shards.chunksOf('db.c'), [
      'MinKey shard01',
      '-6148914691236517204 shard01',
      '-3074457345618258602 shard02',
      '0 shard02',
      '3074457345618258602 shard03',
      '6148914691236517204 shard03',
    ])
    for (const shard of shards.config.shards) {
      t.same(await indexNames(shards, shard), ['_id_', 'a_hashed'])
      const list = await shards.direct(shard, { listCollections: 1, filter: { name: 'c' } })
      t.same(
        Buffer.from(
          (list as { cursor: { firstBatch: { info: { uuid: { buffer: Uint8Array } } }[] } }).cursor.firstBatch[0]!.info
            .uuid.buffer,
        ),
        Buffer.from(uuid),
        'one UUID everywhere',
      )
    }
  },
)

t.test('the number of initial chunks of a hashed key depends on the version and on numInitialChunks', async (t) => {
  const count = async (version: '6.0' | '7.0' | '8.0', rest: Document, key: Document = { a: 'hashed' }) => {
    const shards = new Shards({ version })
    t.equal((await shards.shardCollection('db.c', { key, ...rest })).error, null)
    return shards.chunksOf('db.c')
  }
  t.equal((await count('7.0', {})).length, 6)
  t.equal((await count('8.0', {})).length, 3)
  t.equal((await count('7.0', { numInitialChunks: 7 })).length, 7)
  t.equal((await count('8.0', { numInitialChunks: 7 })).length, 3, 'ignored since 7.2')
  t.same(await count('6.0', { numInitialChunks: 2 }), ['MinKey shard01', '0 shard02'])
  t.same(await count('6.0', {}, { x: 1, a: 'hashed' }), ['MinKey,MinKey shard01'], 'hashed, but not first')
  t.equal((await count('6.0', {}, { a: 'hashed', x: 1 })).length, 6)
  const owners = (await count('7.0', {})).map((line) => line.split(' ')[1])
  t.same([...new Set(owners)].sort(), ['shard01', 'shard02', 'shard03'])
})

t.test('repeating shardCollection has no effect, and another key is refused', async (t) => {
  const shards = new Shards()
  const { uuid } = await shards.shardCollection('db.c', { key: { a: 1 } })
  const again = await shards.shardCollection('db.c', { key: { a: 1 } })
  t.same(again, { uuid, error: null })
  t.equal(shards.config.changes.length, 2)
  t.match((await shards.shardCollection('db.c', { key: { b: 1 } })).error, {
    code: 23,
    codeName: 'AlreadyInitialized',
    errmsg: /sharding already enabled for collection db\.c/,
  })
  t.match((await shards.shardCollection('db.c', { key: { a: 1 }, unique: true })).error, { code: 23 })
})

t.test('a refused shardCollection leaves no collection, index or catalog entry', async (t) => {
  const cases: [body: Document, code: number, what: string][] = [
    [{}, 40414, 'no key'],
    [{ key: {} }, 2, 'an empty key'],
    [{ key: { a: -1 } }, 2, 'a descending key'],
    [{ key: { a: 'hashed' }, unique: true }, 72, 'hashed and unique'],
    [{ key: { a: 1 }, collation: { locale: 'de' } }, 2, 'a collation'],
    [{ key: { a: 1 }, numInitialChunks: 5 }, 72, 'numInitialChunks for a ranged key'],
    [{ key: { a: 'hashed' }, numInitialChunks: -1 }, 72, 'negative numInitialChunks'],
    [{ key: { a: 'hashed' }, numInitialChunks: 8192 * 3 + 1 }, 72, 'too many chunks per shard'],
    [{ key: { b: 1, a: 'hashed' }, numInitialChunks: 5 }, 72, 'numInitialChunks with the hashed field not first'],
    [{ key: { a: 'hashed' }, presplitHashedZones: true }, 31387, 'presplitHashedZones without zones'],
    [{ key: { a: 1 }, timeseries: { timeField: 't' } }, 72, 'what is not built'],
  ]
  for (const [body, code, what] of cases) {
    const shards = new Shards()
    const { error } = await shards.shardCollection('db.c', body)
    t.equal(error?.['code'], code, what)
    t.equal(await indexNames(shards, 'shard01'), null)
    t.equal(shards.config.collections.size, 0)
  }
  t.equal(
    (await new Shards({ version: '4.0' }).shardCollection('db.c', { key: { a: 1, b: 'hashed' } })).error?.['code'],
    2,
    'compound hashed keys came with 4.4',
  )
})

t.test('a collection with documents needs an index that supports the shard key', async (t) => {
  const prepared = async (indexes: Document[], documents: Document[]) => {
    const shards = new Shards()
    if (documents.length > 0) await shards.direct('shard01', { insert: 'c', documents })
    else await shards.direct('shard01', { create: 'c' })
    if (indexes.length > 0) {
      const made = await shards.direct('shard01', { createIndexes: 'c', indexes })
      if (made['ok'] !== 1) throw new Error(JSON.stringify(made))
    }
    return shards
  }
  const outcome = async (indexes: Document[], documents: Document[], body: Document) =>
    (await (await prepared(indexes, documents)).shardCollection('db.c', body)).error?.['code'] ?? null
  const a1 = { key: { a: 1 }, name: 'a_1' }
  const full = [{ _id: 1, a: 1 }]
  t.equal(await outcome([], full, { key: { a: 1 } }), 72, 'documents and no index')
  t.equal(await outcome([a1], full, { key: { a: 1 } }), null, 'the index is there')
  t.equal(
    await outcome([{ key: { a: 1, b: 1 }, name: 'x' }], full, { key: { a: 1 } }),
    null,
    'an index that begins with the key serves',
  )
  t.equal(
    await outcome([{ key: { a: -1 }, name: 'x' }], full, { key: { a: 1 } }),
    72,
    'the other direction does not serve',
  )
  t.equal(
    await outcome([{ key: { a: 'hashed' }, name: 'x' }], full, { key: { a: 1 } }),
    72,
    'a hashed one does not serve',
  )
  t.equal(await outcome([{ ...a1, sparse: true }], full, { key: { a: 1 } }), 72, 'a sparse one does not serve')
  t.equal(
    await outcome([{ ...a1, partialFilterExpression: { a: { $gt: 0 } } }], full, { key: { a: 1 } }),
    72,
    'a partial one does not serve',
  )
  t.equal(await outcome([a1], [{ _id: 1, a: [1, 2] }], { key: { a: 1 } }), 72, 'a multikey one does not serve')
  t.equal(
    await outcome([{ key: { b: 1 }, name: 'b', unique: true }], [], { key: { a: 1 } }),
    72,
    'a unique index on something else',
  )
  t.equal(
    await outcome([{ key: { a: 1, b: 1 }, name: 'b', unique: true }], full, { key: { a: 1 } }),
    null,
    'a unique index that begins with the key',
  )
  t.equal(await outcome([a1], full, { key: { a: 1 }, unique: true }), 72, 'unique, but the index is not')
  t.equal(await outcome([{ ...a1, unique: true }], full, { key: { a: 1 }, unique: true }), null)
  t.equal(
    await outcome([{ key: { a: 'hashed' }, name: 'x' }], full, { key: { a: 'hashed' }, numInitialChunks: 4 }),
    72,
    'numInitialChunks with documents',
  )
  const shards = await prepared([{ key: { a: 'hashed' }, name: 'x' }], full)
  t.equal((await shards.shardCollection('db.c', { key: { a: 'hashed' } })).error, null)
  t.same(shards.chunksOf('db.c'), ['MinKey shard01'], 'documents stay where they are: one chunk')
  t.same(await shards.ids('shard01', { find: 'c' }, { shardVersion: shards.config.version('db.c', 'shard01') }), [1])
})

t.test('unique builds a unique index', async (t) => {
  const shards = new Shards()
  t.equal((await shards.shardCollection('db.c', { key: { a: 1 }, unique: true })).error, null)
  const shardVersion = shards.config.version('db.c', 'shard01')
  t.match(
    await shards.routed(
      'shard01',
      {
        insert: 'c',
        documents: [
          { _id: 1, a: 1 },
          { _id: 2, a: 1 },
        ],
      },
      { shardVersion },
    ),
    { n: 1, writeErrors: [{ code: 11000 }] },
  )
})

t.test('only the primary shard of the database shards a collection', async (t) => {
  const shards = new Shards()
  const { version } = shards.config.databases.get('db')!
  shards.config.databases.set('db', { primary: 'shard02', version: [version[0], version[1], version[2], 2] })
  const body = Buffer.from([5, 0, 0, 0, 0])
  for (const databaseVersion of [version, shards.config.databases.get('db')!.version]) {
    const { error } = await shards.send('shard01', 'shard.create-sharded-collection', {
      ns: 'db.c',
      body,
      databaseVersion,
    })
    t.equal(decode(error!)['code'], 249)
  }
})

t.test('commands are blocked while the collection is being sharded, and are stale afterwards', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: 1 }] })
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  const { version } = shards.config.databases.get('db')!
  const gate = createDeferred<void>()
  shards.contexts.get('shard01')!.pausing.set('shard.create-collection.validated', gate.promise)
  const sharding = shards.shardCollection('db.c', { key: { a: 1 } })
  while (!shards.contexts.get('shard01')!.reached.includes('shard.create-collection.validated')) await Promise.resolve()
  let answered = false
  const write = shards
    .routed(
      'shard01',
      { insert: 'c', documents: [{ _id: 2, a: 2 }] },
      { shardVersion: 'UNSHARDED', databaseVersion: version },
    )
    .then((reply) => {
      answered = true
      return reply
    })
  const other = await shards.routed(
    'shard01',
    { find: 'other' },
    { shardVersion: 'UNSHARDED', databaseVersion: version },
  )
  t.equal(other['ok'], 1, 'other collections are not blocked')
  t.equal(answered, false)
  gate.resolve()
  t.equal((await sharding).error, null)
  t.match(await write, { ok: 0, code: 13388 })
  t.same(await shards.ids('shard01', { find: 'c' }, 'direct'), [1])
})

t.test('of two concurrent requests one shards the collection, and the other finds it sharded', async (t) => {
  const shards = new Shards()
  // The second one waits for the lock.
  shards.contexts.get('shard01')!.holdSleeps = true
  const [first, second] = await Promise.all([
    shards.shardCollection('db.c', { key: { a: 'hashed' } }),
    shards.shardCollection('db.c', { key: { a: 'hashed' } }),
  ])
  t.equal(first.error, null)
  t.same(second, first)
})

t.test('an interrupted shardCollection commits and leaves nothing, and can be repeated', async (t) => {
  for (const step of ['shard.create-collection.validated', 'shard.create-collection.participants-ready']) {
    const shards = new Shards()
    const context = shards.contexts.get('shard01')!
    context.failing.add(step)
    t.match((await shards.shardCollection('db.c', { key: { a: 'hashed' } })).error, {
      code: 96,
      errmsg: new RegExp(step),
    })
    t.equal(shards.config.collections.size, 0)
    for (const shard of shards.config.shards)
      t.match(await shards.direct(shard, { listIndexes: 'c' }), { code: 26 }, `${shard} keeps nothing`)
    const { version } = shards.config.databases.get('db')!
    t.match(
      await shards.routed('shard01', { find: 'c' }, { shardVersion: 'UNSHARDED', databaseVersion: version }),
      { ok: 1 },
      'no command stays blocked',
    )
    context.failing.clear()
    t.equal((await shards.shardCollection('db.c', { key: { a: 'hashed' } })).error, null)
    t.equal(shards.chunksOf('db.c').length, 6)
  }
})

t.test('shardCollection waits for a participant or the config server that is down', async (t) => {
  const shards = new Shards()
  const { sleeps } = shards.contexts.get('shard01')!
  const pausing = async () => {
    const before = sleeps.length
    while (sleeps.length === before) await Promise.resolve()
  }
  shards.down.add('shard03')
  const first = shards.shardCollection('db.c', { key: { a: 'hashed' } })
  await pausing()
  t.equal(shards.config.collections.size, 0)
  shards.down.clear()
  t.equal((await first).error, null)
  shards.config.silent.add('config.commit-create-collection')
  const second = shards.shardCollection('db.d', { key: { a: 'hashed' } })
  await pausing()
  shards.config.silent.clear()
  t.equal((await second).error, null)
})

t.test('a leftover of an earlier collection of the same name is dropped', async (t) => {
  const shards = new Shards()
  await shards.direct('shard02', { insert: 'c', documents: [{ _id: 'old', a: 1 }] })
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  t.same(await shards.ids('shard02', { find: 'c' }, 'direct'), [])
  t.same(await indexNames(shards, 'shard02'), ['_id_', 'a_hashed'])
})
