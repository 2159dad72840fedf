import { decode, type Document, Long, ObjectId, Timestamp, UUID } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

const find = { find: 'c' }

/**
 * db.c with `a` below 0 on shard01, the rest on shard02; shard01 has three documents, one an
 * orphan.
 */
async function sharded(): Promise<Shards> {
  const shards = new Shards()
  await shards.direct('shard01', {
    insert: 'c',
    documents: [
      { _id: 1, a: -1 },
      { _id: 2, a: -2 },
      { _id: 3, a: 5 },
    ],
  })
  shards.config.shard('db.c', { a: 1 }, [0], ['shard01', 'shard02'])
  return shards
}

t.test('unversioned and direct commands see everything, without a refresh', async (t) => {
  const shards = await sharded()
  t.same(await shards.ids('shard01', find, {}), [1, 2, 3])
  t.same(await shards.ids('shard01', find, 'direct'), [1, 2, 3])
  t.same(shards.config.asked, [])
})

t.test('an unsharded collection needs the database version and UNSHARDED', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1 }] })
  const { version } = shards.config.databases.get('db')!
  t.same(await shards.ids('shard01', find, { shardVersion: 'UNSHARDED', databaseVersion: version }), [1])
  t.same(shards.config.asked, ['config.get-database', 'config.get-collection'], 'the first command asks')
  t.same(await shards.ids('shard01', find, { shardVersion: 'UNSHARDED', databaseVersion: version }), [1])
  t.equal(shards.config.asked.length, 2, 'the next ones do not')
})

t.test('a command with the current version does not see orphans', async (t) => {
  const shards = await sharded()
  const shardVersion = shards.config.version('db.c', 'shard01')
  t.same(await shards.ids('shard01', find, { shardVersion }), [1, 2])
  t.same(await shards.ids('shard01', find, { shardVersion: 'IGNORED' }), [1, 2])
  t.same(await shards.ids('shard01', find, 'direct'), [1, 2, 3])
  t.same(shards.config.asked, ['config.get-collection'])
})

t.test('a lookup of an orphan by its key finds nothing, however often the same command ran before', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: -1 }, { _id: 5 }] })
  shards.config.shard('db.c', { _id: 1 }, [0], ['shard01', 'shard02'])
  const byId = (_id: number) => ({ find: 'c', filter: { _id } })
  const before = { shardVersion: shards.config.version('db.c', 'shard01') }
  for (let i = 0; i < 2; i++) {
    t.same(await shards.ids('shard01', byId(-1), before), [-1])
    t.same(await shards.ids('shard01', byId(5), before), [])
    t.same(await shards.ids('shard01', byId(5), 'direct'), [5])
  }
  shards.config.move('db.c', 1, 'shard01')
  const after = { shardVersion: shards.config.version('db.c', 'shard01') }
  t.same(await shards.ids('shard01', byId(5), after), [5])
  t.match(await shards.routed('shard01', byId(5), before), { ok: 0, code: 13388 })
})

t.test('IGNORED is accepted for an unsharded collection', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1 }] })
  t.same(await shards.ids('shard01', find, { shardVersion: 'IGNORED' }), [1])
})

t.test(
  'an older major version is stale, a newer one causes a refresh, and the minor version does not matter',
  async (t) => {
    const shards = await sharded()
    const [epoch, seconds, increment, major] = shards.config.version('db.c', 'shard01')
    t.equal((await shards.routed('shard01', find, { shardVersion: [epoch, seconds, increment, major, 99] }))['ok'], 1)
    shards.config.move('db.c', 1, 'shard01')
    shards.config.asked.length = 0
    const newer = shards.config.version('db.c', 'shard01')
    t.same(
      await shards.ids('shard01', find, { shardVersion: newer }),
      [1, 2, 3],
      'a newer version causes a refresh: the shard owns more now',
    )
    t.same(shards.config.asked, ['config.get-collection'])
    const stale = await shards.routed('shard01', find, { shardVersion: [epoch, seconds, increment, major, 0] })
    t.equal(shards.config.asked.length, 1, 'an older version fails without a refresh')
    const stamp = (major: number, minor: number) => ({
      e: new ObjectId(epoch),
      t: new Timestamp({ t: seconds, i: increment }),
      v: new Timestamp({ t: major, i: minor }),
    })
    t.same(
      { ...stale, errmsg: undefined },
      {
        ok: 0,
        errmsg: undefined,
        code: 13388,
        codeName: 'StaleConfig',
        ns: 'db.c',
        vReceived: stamp(major, 0),
        vWanted: stamp(newer[3], newer[4]),
        shardId: 'shard01',
      },
    )
    t.same(Object.keys(stale), ['ok', 'errmsg', 'code', 'codeName', 'ns', 'vReceived', 'vWanted', 'shardId'])
  },
)

t.test('a shard without chunks has version 0|0', async (t) => {
  const shards = await sharded()
  const version = shards.config.version('db.c', 'shard03')
  t.same(version.slice(3), [0, 0])
  await shards.direct('shard03', { insert: 'c', documents: [{ _id: 9, a: 9 }] })
  t.same(await shards.ids('shard03', find, { shardVersion: version }), [])
  t.match(await shards.routed('shard03', find, { shardVersion: shards.config.version('db.c', 'shard01') }), {
    code: 13388,
  })
})

t.test(
  'a version for a collection that is unsharded here causes a refresh, and UNSHARDED for a sharded one is stale',
  async (t) => {
    const shards = await sharded()
    const unsharded = await shards.routed('shard01', find, { shardVersion: 'UNSHARDED' })
    t.match(unsharded, {
      code: 13388,
      vReceived: { v: new Timestamp({ t: 0, i: 0 }) },
      vWanted: { v: new Timestamp({ t: 1, i: 0 }) },
    })
    const version = shards.config.version('db.c', 'shard01')
    shards.config.collections.delete('db.c')
    const gone = await shards.routed('shard01', find, { shardVersion: [...version.slice(0, 3), 9, 0] as never })
    t.match(gone, {
      code: 13388,
      vWanted: { e: new ObjectId('000000000000000000000000'), v: new Timestamp({ t: 0, i: 0 }) },
    })
  },
)

t.test('UNSHARDED from a router makes a shard refresh a collection whose drop it has missed', async (t) => {
  const shards = await sharded()
  await shards.ids('shard01', find, { shardVersion: shards.config.version('db.c', 'shard01') })
  shards.config.collections.delete('db.c')
  t.same(await shards.ids('shard01', find, { shardVersion: 'UNSHARDED' }), [1, 2, 3])
})

t.test('a newer generation causes a refresh, an older one is stale', async (t) => {
  const shards = await sharded()
  const old = shards.config.version('db.c', 'shard01')
  await shards.ids('shard01', find, { shardVersion: old })
  shards.config.shard('db.c', { a: 1 }, [-1], ['shard02', 'shard01'])
  shards.config.asked.length = 0
  const next = shards.config.version('db.c', 'shard01')
  t.same(await shards.ids('shard01', find, { shardVersion: next }), [1, 3], 'a newer generation causes a refresh')
  t.match(await shards.routed('shard01', find, { shardVersion: old }), { code: 13388 })
  t.same(shards.config.asked, ['config.get-collection'], 'an older one does not')
})

t.test('concurrent commands share one refresh', async (t) => {
  const shards = await sharded()
  const shardVersion = shards.config.version('db.c', 'shard01')
  await Promise.all(Array.from({ length: 5 }, () => shards.ids('shard01', find, { shardVersion })))
  t.same(shards.config.asked, ['config.get-collection'])
})

t.test('a newer database version causes a refresh, an older one is stale', async (t) => {
  const shards = new Shards()
  const { version } = shards.config.databases.get('db')!
  const enter = (shard: string, databaseVersion: typeof version) =>
    shards.routed(shard, find, { shardVersion: 'UNSHARDED', databaseVersion })
  t.match(await enter('shard01', version), { ok: 1 })
  const [uuid, seconds, increment] = version
  const newer = [uuid, seconds, increment, 2] as const
  shards.config.databases.set('db', { primary: 'shard01', version: newer })
  t.match(await enter('shard01', newer), { ok: 1 }, 'a newer version causes a refresh')
  const stale = await enter('shard01', version)
  t.same(Object.keys(stale), ['ok', 'errmsg', 'code', 'codeName', 'db', 'vReceived', 'vWanted'])
  t.match(stale, {
    code: 249,
    codeName: 'StaleDbVersion',
    db: 'db',
    vReceived: { lastMod: 1 },
    vWanted: { lastMod: 2 },
  })
  t.match(await enter('shard02', newer), { code: 249 }, 'not its primary shard')
  t.match(await enter('shard02', newer), { code: 249 }, 'nor when it has looked it up')
  shards.config.databases.delete('db')
  const recreated = shards.config.addDatabase('db', 'shard01')
  t.match(await enter('shard01', recreated), { ok: 1 })
  shards.config.databases.delete('db')
  const gone = await enter('shard01', [recreated[0], recreated[1], recreated[2], 7])
  t.match(gone, { code: 249 })
  t.notOk('vWanted' in gone, 'no database, no version')
})

t.test('without timestamps another UUID of a database causes a refresh', async (t) => {
  const shards = new Shards({ version: '4.4' })
  const first = ['11'.repeat(16), 0, 0, 1] as const
  shards.config.databases.set('db', { primary: 'shard01', version: first })
  t.match(await shards.routed('shard01', find, { shardVersion: 'UNSHARDED', databaseVersion: first }), { ok: 1 })
  const second = ['22'.repeat(16), 0, 0, 1] as const
  shards.config.databases.set('db', { primary: 'shard01', version: second })
  t.match(await shards.routed('shard01', find, { shardVersion: 'UNSHARDED', databaseVersion: second }), { ok: 1 })
})

t.test('a refresh fails while the config server is down', async (t) => {
  const shards = await sharded()
  shards.config.silent.add('config.get-collection')
  t.match(await shards.routed('shard01', find, { shardVersion: shards.config.version('db.c', 'shard01') }), {
    ok: 0,
    code: 133,
    codeName: 'FailedToSatisfyReadPreference',
  })
  shards.config.silent.clear()
  t.same(
    await shards.ids('shard01', find, { shardVersion: shards.config.version('db.c', 'shard01') }),
    [1, 2],
    'and then can',
  )
})

t.test('versioned commands read and write owned documents only', async (t) => {
  const shards = await sharded()
  const shardVersion = shards.config.version('db.c', 'shard01')
  const run = (command: Document) => shards.routed('shard01', command, { shardVersion })
  t.match(await run({ count: 'c', query: { a: { $exists: true } } }), { n: 2 })
  t.match(await run({ count: 'c' }), { n: 3 }, 'a count of everything takes the number of records, orphans included')
  t.same(
    await shards.ids(
      'shard01',
      { aggregate: 'c', pipeline: [{ $match: { a: { $gt: -10 } } }], cursor: {} },
      { shardVersion },
    ),
    [1, 2],
  )
  t.same(
    await shards.ids('shard01', { find: 'c', sort: { a: -1 }, limit: 1 }, { shardVersion }),
    [1],
    'a limit counts owned documents',
  )
  t.match(await run({ update: 'c', updates: [{ q: {}, u: { $set: { x: 1 } }, multi: true }] }), { n: 2, nModified: 2 })
  t.match(await run({ delete: 'c', deletes: [{ q: { a: 5 }, limit: 0 }] }), { n: 0 })
  t.match(await run({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }), { n: 2 })
  t.same(await shards.ids('shard01', find, 'direct'), [3], 'the orphan is still there')
})

t.test('a versioned write does not create a collection', async (t) => {
  const shards = new Shards()
  shards.config.shard('db.c', { a: 1 }, [], ['shard01'])
  const reply = await shards.routed(
    'shard01',
    { insert: 'c', documents: [{ _id: 1, a: 1 }] },
    { shardVersion: shards.config.version('db.c', 'shard01') },
  )
  t.match(reply, { n: 0, writeErrors: [{ code: 227 }] })
  const { version } = shards.config.databases.get('db')!
  t.match(
    await shards.routed(
      'shard01',
      { insert: 'u', documents: [{ _id: 1 }] },
      { shardVersion: 'UNSHARDED', databaseVersion: version },
    ),
    { n: 1, ok: 1 },
  )
})

t.test('open cursors keep the ownership filter they were opened with', async (t) => {
  const shards = await sharded()
  const first = await shards.routed(
    'shard01',
    { find: 'c', batchSize: 1 },
    { shardVersion: shards.config.version('db.c', 'shard01') },
  )
  shards.config.move('db.c', 0, 'shard02')
  t.match(await shards.routed('shard01', find, { shardVersion: shards.config.version('db.c', 'shard01') }), {
    ok: 1,
    cursor: { firstBatch: [] },
  })
  const { id } = first['cursor'] as Document
  t.match(await shards.routed('shard01', { getMore: id, collection: 'c' }), { cursor: { nextBatch: [{ _id: 2 }] } })
})

t.test("changes of a document's shard key are checked as the version does", async (t) => {
  const lsid = { id: new UUID(Buffer.alloc(16, 1)) }
  const moves = {
    n: 0,
    writeErrors: [{ code: 283, preImage: { _id: 1, a: -1 }, postImage: { _id: 1, a: 7 }, shouldUpsert: false }],
  }
  const cases: [version: '4.0' | '7.0', u: Document, retryably: boolean, expected: Document][] = [
    ['7.0', { $set: { a: -7 } }, true, { n: 1, nModified: 1 }],
    ['7.0', { $set: { a: -7 } }, false, { n: 0, writeErrors: [{ code: 20 }] }],
    ['7.0', { $set: { b: 1 } }, false, { n: 1, nModified: 1 }],
    ['7.0', { $set: { a: 7 } }, true, moves],
    ['7.0', { $set: { a: 7 } }, false, { n: 0, writeErrors: [{ code: 20 }] }],
    ['7.0', { $set: { a: [1] } }, true, { n: 0, writeErrors: [{ code: 54 }] }],
    ['7.0', { $unset: { a: 1 } }, true, { n: 1, nModified: 1 }],
    ['4.0', { $set: { a: -7 } }, true, { n: 0, writeErrors: [{ code: 66 }] }],
    ['4.0', { $unset: { a: 1 } }, true, { n: 0, writeErrors: [{ code: 66 }] }],
    ['4.0', { $set: { a: -1.0, b: 1 } }, true, { n: 1, nModified: 1 }],
  ]
  for (const [version, u, retryably, expected] of cases) {
    const shards = new Shards({ version })
    await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: -1 }] })
    const direct = { update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 99 } } }] }
    shards.config.shard('db.c', { a: 1 }, [0], ['shard01', 'shard02'])
    const command = {
      update: 'c',
      updates: [{ q: { _id: 1, a: -1 }, u }],
      ...(retryably ? { lsid, txnNumber: Long.fromNumber(1) } : {}),
    }
    const reply = await shards.routed('shard01', command, { shardVersion: shards.config.version('db.c', 'shard01') })
    t.match(reply, expected, `${version} ${JSON.stringify(u)}`)
    t.match(
      await shards.direct('shard01', direct),
      { n: 0, writeErrors: [{ code: 66 }] },
      'never over a direct connection',
    )
  }
})

t.test('a shard without identity refuses versioned commands, and shardingState shows the identity', async (t) => {
  const shards = new Shards({ withoutIdentity: true })
  const versions = { shardVersion: 'UNSHARDED' as const }
  t.match(await shards.routed('shard01', { find: 'c' }, versions), {
    code: 203,
    codeName: 'ShardingStateNotInitialized',
  })
  t.same((await shards.direct('shard01', { shardingState: 1, $db: 'admin' }))['enabled'], false)
  for (let i = 0; i < 2; i++)
    t.same(
      await shards.send('shard01', 'shard.initialise', {
        clusterId: Buffer.alloc(12, 3),
        shardName: 'shard01',
        configHost: 'config/h:1',
      }),
      { error: null },
    )
  const other = { clusterId: Buffer.alloc(12, 3), shardName: 'east', configHost: 'config/h:1' }
  const { error } = await shards.send('shard01', 'shard.initialise', other)
  t.match(decode(error!), { code: 11_000 }, 'another name is refused')
  t.match(await shards.routed('shard01', { find: 'c' }, versions), { ok: 1 })
  t.match(await shards.direct('shard01', { shardingState: 1, $db: 'admin' }), {
    enabled: true,
    configServer: 'config/h:1',
    shardName: 'shard01',
    clusterId: new ObjectId(Buffer.alloc(12, 3)),
  })
  t.same((await shards.send('shard01', 'shard.data-size', {})).sizeBytes, 0, 'internal collections do not count')
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1 }] })
  t.ok((await shards.send('shard01', 'shard.data-size', {})).sizeBytes > 0)
})

for (const version of ['6.0', '7.0'] as const) {
  t.test(`shardingState shows the versions that are known: ${version}`, async (t) => {
    const shards = new Shards({ version })
    await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: -1 }] })
    shards.config.shard('db.c', { a: 1 }, [0], ['shard01', 'shard02'])
    await shards.send('shard01', 'shard.initialise', {
      clusterId: Buffer.alloc(12, 3),
      shardName: 'shard01',
      configHost: 'config/h:1',
    })
    const versions = async () =>
      (await shards.direct('shard01', { shardingState: 1, $db: 'admin' }))['versions'] as Document
    t.same(await versions(), {})
    const known = shards.config.version('db.c', 'shard01')
    await shards.routed('shard01', find, { shardVersion: known })
    await shards.routed('shard01', { find: 'plain' }, { shardVersion: 'IGNORED' })
    const [, seconds, increment, major, minor] = known
    const stamp = (t: number, i: number) => new Timestamp({ t, i })
    const shown = (placement: Timestamp, timestamp: Timestamp) =>
      version === '6.0' ? placement : { placementVersion: placement, timestamp }
    t.same(await versions(), {
      'db.c': shown(stamp(major, minor), stamp(seconds, increment)),
      'db.plain': shown(stamp(0, 0), stamp(0, 0)),
    })
  })
}

t.test('applyOps changes shard keys and writes documents that the shard does not own', async (t) => {
  const shards = await sharded()
  const reply = await shards.direct('shard01', {
    applyOps: [
      { op: 'u', ns: 'db.c', o2: { _id: 3 }, o: { _id: 3, a: 6 } },
      { op: 'i', ns: 'db.c', o: { _id: 4, a: 7 } },
    ],
  })
  t.match(reply, { ok: 1, results: [true, true] })
  t.same(await shards.ids('shard01', find, 'direct'), [1, 2, 3, 4])
  t.same(shards.config.asked, [], 'the placement does not matter')
})
