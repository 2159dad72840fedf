import t from 'tap'
import { findField, fieldsOf, type Document } from '@shardlab/bson'
import { long, NodeUnderTest } from './support/harness.js'

const admin = { db: 'admin' }

t.test('compact needs force on a primary and frees nothing', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  await node.ok({ create: 'v', viewOn: 'c' })
  t.match(await node.run({ compact: 'c' }), { code: 20, errmsg: /^will not run compact on an active .*slow down/ })
  t.same(await node.run({ compact: 'c', force: true }), { bytesFreed: 0, ok: 1 })
  t.match(await node.run({ compact: 'none', force: true }), { code: 26, errmsg: 'collection does not exist' })
  t.match(await node.run({ compact: 'v', force: true }), { code: 166 })
  const older = new NodeUnderTest({ version: '4.0' })
  await older.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const refused = await older.run({ compact: 'c' })
  t.match(refused, { ok: 0, errmsg: /slow blocking operation/ })
  t.notOk('code' in refused)
  t.same(await older.run({ compact: 'c', force: true }), { ok: 1 })
})

t.test('reIndex is for standalone servers since 5.0', async (t) => {
  const node = new NodeUnderTest()
  t.match(await node.run({ reIndex: 'c' }), { code: 20, errmsg: /^reIndex is only allowed on a standalone mongod/ })
  const older = new NodeUnderTest({ version: '4.4' })
  await older.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  t.match(await older.ok({ reIndex: 'c' }), {
    nIndexesWas: 2,
    nIndexes: 2,
    indexes: [{ name: '_id_' }, { name: 'a_1' }],
  })
  t.match(await older.run({ reIndex: 'none' }), { code: 26 })
})

t.test('replSetGetConfig describes a set of one member', async (t) => {
  const config = async (version: '4.0' | '4.4' | '7.0') =>
    (await new NodeUnderTest({ version }).ok({ replSetGetConfig: 1 }, admin))['config'] as Document
  const newest = await config('7.0')
  t.match(newest, {
    _id: 'shard01',
    version: 1,
    members: [{ _id: 0, host: '127.0.0.1:27018', priority: 1, votes: 1 }],
    settings: { electionTimeoutMillis: 10_000 },
  })
  t.ok('secondaryDelaySecs' in (newest['members'] as Document[])[0]!)
  t.ok('term' in (await config('4.4')))
  t.notOk('term' in (await config('4.0')))
  t.match(await new NodeUnderTest({ version: '2.6' }).run({ replSetGetConfig: 1 }, admin), { code: 59 })
})

t.test('usersInfo lists no users, and logRotate and rotateCertificates do nothing', async (t) => {
  const node = new NodeUnderTest()
  for (const target of [1, 'x', { user: 'x', db: 'test' }, ['x'], { forAllDBs: true }])
    t.same(await node.run({ usersInfo: target }), { users: [], ok: 1 })
  for (const log of [1, 'server']) t.same(await node.run({ logRotate: log }, admin), { ok: 1 })
  t.same(await node.run({ rotateCertificates: 1, message: 'x' }, admin), { ok: 1 })
  t.match(await new NodeUnderTest({ version: '4.4' }).run({ rotateCertificates: 1 }, admin), { code: 59 })
})

t.test('D302 the plan cache is empty', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const stats = (collection: string) =>
    node.run({ aggregate: collection, pipeline: [{ $planCacheStats: {} }], cursor: {} })
  t.match(await stats('c'), { ok: 1, cursor: { firstBatch: [] } })
  t.match(await stats('none'), { code: 50933, errmsg: "collection 'test.none' does not exist" })
  t.same(await node.run({ planCacheClear: 'c' }), { ok: 1 })
  t.same(await node.run({ planCacheClear: 'c', query: { a: 1 }, sort: { a: 1 } }), { ok: 1 })
  t.match(await node.run({ planCacheClear: 'c', query: 1 }), {
    code: 2,
    errmsg: 'required field query must be an object',
  })
  t.match(await node.run({ planCacheClear: 'c', sort: {} }), { code: 2 })
  t.same(await node.run({ planCacheClear: 'none', query: 1 }), { ok: 1 }, 'nothing to clear')
  const pipeline = [{ $planCacheStats: {} }]
  t.match(await new NodeUnderTest({ version: '4.0' }).run({ aggregate: 'c', pipeline, cursor: {} }), { code: 40324 })
})

t.test('stages that read the state of members take no other read concern than local', async (t) => {
  const node = new NodeUnderTest()
  const read = (stage: Document, level: string) =>
    node.run({ aggregate: 1, pipeline: [stage], cursor: {}, readConcern: { level } }, admin)
  t.match(await read({ $currentOp: {} }, 'majority'), {
    code: 72,
    errmsg:
      /^Command aggregate does not support .* :: caused by :: Aggregation stage \$currentOp cannot run with a readConcern other than 'local'\. Current readConcern: majority$/,
  })
  t.match(await read({ $listLocalSessions: {} }, 'available'), { code: 72 })
  const searchIndexes = { aggregate: 'c', pipeline: [{ $listSearchIndexes: {} }], cursor: {} }
  t.match(await node.run({ ...searchIndexes, readConcern: { level: 'majority' } }), { code: 72 })
  t.match(await node.run({ ...searchIndexes, readConcern: { level: 'local' } }), { code: 31082 })
  t.match(await read({ $currentOp: {} }, 'local'), { ok: 1 })
  const older = new NodeUnderTest({ version: '4.4' })
  t.match(
    await older.run({ ...searchIndexes, readConcern: { level: 'available' } }),
    { code: 40324 },
    'a version without the stage',
  )
})

t.test('the cursors of listCollections and listIndexes begin with id and ns', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  for (const command of [{ listCollections: 1 }, { listIndexes: 'c' }]) {
    const cursor = findField(await node.raw(command), 'cursor')!
    t.same(
      fieldsOf(cursor.slice()).map(([name]) => name),
      ['id', 'ns', 'firstBatch'],
    )
  }
})

t.test('since 6.0 logRotate with a string needs a log of this name', async (t) => {
  for (const version of ['2.6', '4.4', '5.0'] as const)
    t.match(await new NodeUnderTest({ version }).run({ logRotate: 'audit' }, admin), { ok: 1 }, version)
  for (const version of ['6.0.2', '8.0'] as const)
    t.match(
      await new NodeUnderTest({ version }).run({ logRotate: 'audit' }, admin),
      { ok: 0, code: 4, errmsg: 'Log rotation failed due to one or more errors' },
      version,
    )
})

t.test('the argument of getLog must be a string, in the words of the version', async (t) => {
  t.match(await new NodeUnderTest({ version: '4.0' }).run({ getLog: 1 }, admin), {
    code: 14,
    errmsg: 'Argument to getLog must be of type String; found 1 of type int',
  })
  t.match(await new NodeUnderTest({ version: '7.0' }).run({ getLog: 1 }, admin), {
    code: 14,
    errmsg: "BSON field 'getLog.getLog' is the wrong type 'int', expected type 'string'",
  })
})

t.test('getLog of an unknown log has a code since 6.0', async (t) => {
  const reply = await new NodeUnderTest({ version: '5.0' }).run({ getLog: 'x' }, admin)
  t.match(reply, { ok: 0, errmsg: 'no RamLog named: x' })
  t.notOk('code' in reply)
  t.match(await new NodeUnderTest().run({ getLog: 'x' }, admin), { code: 96, errmsg: "No log named 'x'" })
})

t.test('D700: getCmdLineOpts shows the command line of a server with the same role and address', async (t) => {
  t.same(await new NodeUnderTest().ok({ getCmdLineOpts: 1 }, admin), {
    argv: [
      ...['mongod', '--replSet', 'shard01', '--shardsvr'],
      ...['--bind_ip', '127.0.0.1', '--port', '27018', '--setParameter', 'enableTestCommands=1'],
    ],
    parsed: {
      net: { bindIp: '127.0.0.1', port: 27018 },
      replication: { replSet: 'shard01' },
      sharding: { clusterRole: 'shardsvr' },
      setParameter: { enableTestCommands: '1' },
    },
    ok: 1,
  })
})

t.test('getParameter authSchemaVersion is that of a cluster without users', async (t) => {
  for (const [version, authSchemaVersion] of [
    ['2.6', 3],
    ['7.0', 5],
  ] as const)
    t.same(await new NodeUnderTest({ version }).run({ getParameter: 1, authSchemaVersion: 1 }, admin), {
      authSchemaVersion,
      ok: 1,
    })
})

t.test('serverStatus shows a step-down', async (t) => {
  const node = new NodeUnderTest()
  t.match(await node.ok({ serverStatus: 1 }), { repl: { isWritablePrimary: true, primary: '127.0.0.1:27018' } })
  await node.stepDown()
  const { repl } = await node.ok({ serverStatus: 1 })
  t.match(repl, { isWritablePrimary: false, secondary: true })
  t.notOk('primary' in (repl as Document))
  await node.stepUp()
  t.match((await node.ok({ serverStatus: 1 }))['repl'], {
    isWritablePrimary: true,
    lastWrite: { opTime: { t: long(2) } },
  })
  const older = await new NodeUnderTest({ version: '4.0' }).ok({ serverStatus: 1 })
  t.match(older['repl'], { ismaster: true, isWritablePrimary: undefined, secondary: false })
})

t.test('replSetStepDown needs force, and the member is elected again', async (t) => {
  const node = new NodeUnderTest()
  const stepDown = (target: number, more: Document = {}) => node.run({ replSetStepDown: target, ...more }, admin)
  t.match(await stepDown(-1), { code: 2, errmsg: 'stepdown period must be a positive integer' })
  t.match(await stepDown(5, { secondaryCatchUpPeriodSecs: 6 }), { code: 2 })
  t.match(await stepDown(5, { secondaryCatchUpPeriodSecs: 0 }), {
    code: 262,
    errmsg: /^No electable secondaries caught up as of \d.*\{force: true\} to force node to step down\.$/,
  })
  const insert = { insert: 'c', documents: [{}] }
  t.match(await node.run(insert), { ok: 1 }, 'still primary')
  t.match(await stepDown(5, { force: true }), { ok: 1 })
  t.match(await node.run(insert), { code: 10107 })
  t.match(await stepDown(5, { force: true }), { code: 10107, errmsg: "not primary so can't step down" })
  node.context.nowMs += 5000
  await node.member.wake('replication')
  t.match(await node.run(insert), { ok: 1 })
})
