import { decode, encode, findField, Timestamp, type Document } from '@shardlab/bson'
import { applyPlacementReply } from '@shardlab/member'
import { knownVersion, type CollectionPlacement } from '@shardlab/sharding'
import t from 'tap'
import { clusterId, ConfigUnderTest, documentsIn } from './support/config.js'

t.test('initialise can be repeated without changes', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  const before = [await config.all('shards'), await config.all('version'), await config.all('settings')]
  t.match(before[0], [{ _id: 'shard01', host: 'shard01/h:1', state: 1 }, { _id: 'shard02' }])
  t.same(before[2], [{ _id: 'chunksize', value: 128 }])
  await config.initialised()
  t.same([await config.all('shards'), await config.all('version'), await config.all('settings')], before)
  await config.send('config.initialise', {
    clusterId: Buffer.alloc(12),
    shards: [
      ['shard01', 'shard01/moved:2'],
      ['shard03', 'shard03/h:1'],
    ],
    chunkSizeBytes: 1024,
  })
  t.match(
    await config.all('shards'),
    [{ _id: 'shard01', host: 'shard01/moved:2' }, { _id: 'shard02' }, { _id: 'shard03' }],
    'a shard has a new host after a restart; new ones join',
  )
  t.equal(
    Buffer.from(
      (await config.send('config.mongos-ping', { host: 'h', version: '', createdMs: 0, upSeconds: 0 })).clusterId,
    ).toString('hex'),
    clusterId.toString('hex'),
    'the cluster keeps its id',
  )
  t.same(await config.all('settings'), [{ _id: 'chunksize', value: 1 / 1024 }], 'below one megabyte it is a fraction')
  t.same(
    (await config.send('config.get-shards', {})).shards.map((shard) => findField(shard, '_id')!.asString()),
    ['shard01', 'shard02', 'shard03'],
  )
})

t.test('requests before initialise wait for it', async (t) => {
  const config = new ConfigUnderTest()
  let answered = false
  const asking = config.send('config.get-shards', {}).then((reply) => {
    answered = true
    return reply
  })
  for (let i = 0; i < 20; i++) await Promise.resolve()
  t.equal(answered, false)
  await config.initialised()
  t.equal((await asking).shards.length, 2)
})

t.test('config.chunks has the indexes of the version', async (t) => {
  for (const [version, field] of [
    ['4.4', 'ns'],
    ['7.0', 'uuid'],
  ] as const) {
    const config = await new ConfigUnderTest(version).initialised()
    const { body } = await config.send('node.command', {
      db: 'config',
      body: encode({ listIndexes: 'chunks' }),
      sequences: [],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    })
    t.same(
      (decode(body) as { cursor: { firstBatch: Document[] } }).cursor.firstBatch.map((index) => [
        index['key'],
        index['unique'] ?? false,
      ]),
      [
        [{ _id: 1 }, false],
        [{ [field]: 1, min: 1 }, true],
        [{ [field]: 1, shard: 1, min: 1 }, true],
        [{ [field]: 1, lastmod: 1 }, true],
        ...(version === '7.0' ? [[{ uuid: 1, shard: 1, onCurrentShardSince: 1 }, false]] : []),
      ],
    )
  }
})

t.test('create-database picks the shard with the least data', async (t) => {
  const config = await new ConfigUnderTest().initialised(['shard01', 'shard02', 'shard03'])
  config.sizes.set('shard01', 50).set('shard02', 10).set('shard03', 10)
  const first = await config.createDatabase('Sales')
  t.match(
    first,
    { error: null, database: { _id: 'Sales', primary: 'shard02', version: { lastMod: 1 } } },
    'the smallest shard, the first one of equals',
  )
  t.same(await config.createDatabase('Sales'), first, 'again: the one there is')
  t.same(await config.createDatabase('Sales', 'shard02'), first)
  t.match((await config.createDatabase('Sales', 'shard01')).error, { code: 48 })
  t.match((await config.createDatabase('sales')).error, {
    code: 13297,
    codeName: 'DatabaseDifferCase',
    errmsg: /have: Sales want to add: sales/,
  })
  t.match((await config.createDatabase('other', 'shard03')).database, { primary: 'shard03' })
  t.match((await config.createDatabase('x', 'nobody')).error, { code: 70 })
  for (const db of ['admin', 'config', 'local']) t.match((await config.createDatabase(db)).error, { code: 72 })
  config.sizes.delete('shard02')
  t.match((await config.createDatabase('y')).error, { code: 133 }, 'every shard must answer')
  t.match((await config.createDatabase('y', 'shard03')).database, { primary: 'shard03' }, 'unless one is named')
  config.sizes.clear()
  t.match((await config.createDatabase('z')).error, { code: 133 })
  t.match((await (await new ConfigUnderTest().initialised([])).createDatabase('db')).error, {
    code: 70,
    errmsg: 'No shards found',
  })
  t.same(
    (await config.all('databases')).map((each) => each['_id']),
    ['Sales', 'other', 'y'],
  )
  t.equal((await config.send('config.get-database', { db: 'nothing' })).database, null)
  const changes = config.context.events.filter(({ type }) => type === 'catalog')
  t.match(changes, [{ change: 'database-created', ns: 'Sales' }, { ns: 'other' }, { ns: 'y' }])
})

t.test('enableSharding marks the database in versions with such a mark', async (t) => {
  const old = await new ConfigUnderTest('4.4').initialised()
  const partitioned = async (db: string) =>
    (await old.all('databases')).find((each) => each['_id'] === db)?.['partitioned']
  await old.createDatabase('implicit')
  t.equal(await partitioned('implicit'), false)
  t.match((await old.createDatabase('implicit', null, true)).database, { _id: 'implicit', partitioned: true })
  t.match((await old.createDatabase('implicit')).database, { partitioned: true }, 'it stays')
  t.match((await old.createDatabase('explicit', 'shard02', true)).database, { primary: 'shard02', partitioned: true })
  const restarted = old.restarted()
  t.same(
    (await restarted.all('databases')).map((each) => each['partitioned']),
    [true, true],
    'on the disk',
  )
  for (const version of ['6.0.2', '7.0'] as const) {
    const later = await new ConfigUnderTest(version).initialised()
    t.match(
      (await later.createDatabase('db', null, true)).database,
      { partitioned: false },
      'it means nothing any more',
    )
  }
  const today = await new ConfigUnderTest('8.0').initialised()
  t.notOk('partitioned' in (await today.createDatabase('db', null, true)).database!)
})

t.test('concurrent creations make one database, and none that differs only in case', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  const [a, b, c] = await Promise.all([
    config.createDatabase('db'),
    config.createDatabase('db'),
    config.createDatabase('DB'),
  ])
  t.equal(a.error, null)
  t.same(b, a)
  t.match(c.error, { code: 13297 })
  t.equal((await config.all('databases')).length, 1)
})

t.test('4.4 marks the database, stores versions as dates, and keeps dropped entries', async (t) => {
  const config = await new ConfigUnderTest('4.4').initialised()
  await config.createDatabase('db')
  t.match(await config.all('databases'), [{ partitioned: false }])
  await config.createCollection('db.c')
  t.match(await config.all('databases'), [{ _id: 'db', partitioned: true, version: { lastMod: 1 } }])
  t.match(await config.all('collections'), [{ lastmod: new Date(4294967296), dropped: false }])
  await config.send('config.commit-drop-collection', { ns: 'db.c' })
  t.match(await config.all('collections'), [{ _id: 'db.c', dropped: true }])
  t.same(await config.all('chunks'), [])
  t.equal((await config.send('config.get-collection', { ns: 'db.c', since: null })).collection, null)
  t.equal(await config.createCollection('db.c'), null, 'the name is free')
  t.match(await config.all('collections'), [{ _id: 'db.c', dropped: false }])
})

t.test('get-collection since a version returns only changed chunks', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await config.createCollection('db.c', [0, 10])
  const ask = async (known: CollectionPlacement | null) => {
    const answer = await config.send('config.get-collection', { ns: 'db.c', since: knownVersion(known) })
    return { answer, placement: applyPlacementReply('db.c', known, answer) }
  }
  const { placement: first } = await ask(null)
  const nothing = await ask(first)
  t.match(nothing.answer, { full: false, chunks: [] })
  t.equal(nothing.placement, first)
  // The writes of a migration's commit: the moved chunk and the donor's control chunk.
  const command = {
    update: 'chunks',
    updates: [
      { q: { 'min.a': 10 }, u: { $set: { shard: 'shard02', lastmod: new Timestamp({ t: 2, i: 0 }) } } },
      { q: { 'max.a': 0 }, u: { $set: { lastmod: new Timestamp({ t: 2, i: 1 }) } } },
    ],
  }
  const { body } = await config.send('node.command', {
    db: 'config',
    body: encode(command),
    sequences: [],
    shardVersion: null,
    databaseVersion: null,
    stmtIds: null,
    clusterTime: [1, 1],
    operationKey: 0,
    batchBytesMax: 0,
  })
  t.match(decode(body), { n: 2, nModified: 2 })
  const { answer, placement } = await ask(first)
  t.equal(answer.full, false)
  t.equal(documentsIn(answer).length, 2)
  t.same(placement!.table.version.slice(3), [2, 1])
  t.same(placement!.table.chunksOn('shard02'), 2)
  t.same((await ask(null)).placement!.table.version, placement!.table.version, 'everything says the same')
  await config.send('config.commit-drop-collection', { ns: 'db.c' })
  await config.createCollection('db.c')
  t.match((await ask(placement)).answer, { full: true }, 'another generation: everything')
})

t.test('drops remove entries, chunks and zones', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await config.createDatabase('db')
  await config.createDatabase('db2')
  await config.createCollection('db.c', [0])
  await config.createCollection('db.d', [0], ['shard01'], Buffer.alloc(16, 2))
  await config.createCollection('db2.c', [0], ['shard01'], Buffer.alloc(16, 3))
  for (let i = 0; i < 2; i++)
    t.same(await config.send('config.commit-drop-collection', { ns: 'db.c' }), { error: null }, 'gone already is fine')
  t.same(
    (await config.all('collections')).map((each) => each['_id']),
    ['db.d', 'db2.c'],
  )
  t.equal((await config.all('chunks')).length, 4)
  for (let i = 0; i < 2; i++) t.same(await config.commitDrop('config.commit-drop-database', 'db'), { error: null })
  t.same(
    (await config.all('collections')).map((each) => each['_id']),
    ['db2.c'],
    'a name that begins alike stays',
  )
  t.same(
    (await config.all('databases')).map((each) => each['_id']),
    ['db2'],
  )
  t.same(
    [
      ...new Set(
        (await config.all('chunks')).map((each) =>
          Buffer.from((each['uuid'] as { buffer: Uint8Array }).buffer).toString('hex'),
        ),
      ),
    ],
    ['03'.repeat(16)],
  )
})

t.test('changes are logged, and pings of routers stored', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await config.send('config.log-change', {
    what: 'split',
    ns: 'db.c',
    details: encode({ x: 1 }),
    from: 'shard01:10.0.0.1:27018',
  })
  const [entry] = await config.all('changelog')
  t.match(entry, {
    server: '10.0.0.1:27018',
    shard: 'shard01',
    what: 'split',
    ns: 'db.c',
    details: { x: 1 },
    time: new Date(config.context.nowMs),
  })
  t.match(entry!['_id'], /^10\.0\.0\.1:27018-2023-11-14T22:13:20\.000\+00:00-[0-9a-f]{24}$/)
  for (const upSeconds of [1, 31])
    await config.send('config.mongos-ping', { host: 'h:27017', version: '7.0.25', createdMs: 5, upSeconds })
  t.match(
    (await config.all('mongos')).map((each) => ({ ...each, up: Number(each['up']) })),
    [{ _id: 'h:27017', up: 31, waiting: true, created: new Date(5), ping: new Date(config.context.nowMs) }],
  )
})

t.test('the balancer switch is stored in config.settings', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  const settings = async () => {
    const { settings } = await config.send('config.get-balancer-settings', {})
    return settings === null ? null : decode(settings)
  }
  t.equal(await settings(), null)
  await config.send('config.set-balancer-mode', { mode: 'off' })
  t.same(await settings(), { _id: 'balancer', mode: 'off', stopped: true })
  const { body } = await config.send('node.command', {
    db: 'config',
    body: encode({
      update: 'settings',
      updates: [{ q: { _id: 'balancer' }, u: { $set: { activeWindow: { start: '01:00', stop: '05:00' } } } }],
    }),
    sequences: [],
    shardVersion: null,
    databaseVersion: null,
    stmtIds: null,
    clusterTime: [1, 1],
    operationKey: 0,
    batchBytesMax: 0,
  })
  t.match(decode(body), { nModified: 1 })
  await config.send('config.set-balancer-mode', { mode: 'full' })
  t.same(
    await settings(),
    { _id: 'balancer', mode: 'full', stopped: false, activeWindow: { start: '01:00', stop: '05:00' } },
    'the rest stays',
  )
})

t.test('the catalog survives a restart', async (t) => {
  for (const version of ['4.4', '7.0'] as const) {
    const config = await new ConfigUnderTest(version).initialised()
    await config.createDatabase('db')
    await config.createCollection('db.c', [0])
    await config.send('config.set-balancer-mode', { mode: 'off' })
    const names = ['shards', 'databases', 'collections', 'chunks', 'version', 'settings']
    const before = await Promise.all(names.map((name) => config.all(name)))
    const again = config.restarted()
    t.same(await Promise.all(names.map((name) => again.all(name))), before, 'it need not be initialised again')
    const known = applyPlacementReply(
      'db.c',
      null,
      await config.send('config.get-collection', { ns: 'db.c', since: null }),
    )
    t.match(await again.send('config.get-collection', { ns: 'db.c', since: knownVersion(known) }), {
      full: false,
      chunks: [],
    })
    await again.send('config.commit-drop-collection', { ns: 'db.c' })
    t.equal(await again.createCollection('db.c'), null)
    const next = applyPlacementReply(
      'db.c',
      null,
      await again.send('config.get-collection', { ns: 'db.c', since: null }),
    )!
    t.not(next.table.version[0], known!.table.version[0], 'another epoch')
  }
})

t.test('an unknown message is refused', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await t.rejects(config.send('balancer.status', {}), /does not serve balancer\.status/)
})
