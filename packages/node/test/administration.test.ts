import { decode, encode, Long, ObjectId, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest, shape } from './support/harness.js'

const batch = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

t.test('create and drop reply as the server does', async (t) => {
  const node = new NodeUnderTest()
  t.same(await node.ok({ create: 'c' }), { ok: 1 })
  t.same(await node.ok({ create: 'c' }), { ok: 1 }, 'the same options again')
  t.match(await node.run({ create: 'c', validationLevel: 'off' }), { code: 48 })
  const dropped = await node.raw({ drop: 'c' })
  t.equal(shape(dropped), 'nIndexesWas:int ns:string ok:double')
  t.match(decode(dropped), { nIndexesWas: 1, ns: 'test.c' })
  t.same(await node.ok({ drop: 'c' }), { ok: 1 }, '7.0: nothing to drop is fine')
  t.match(await new NodeUnderTest({ version: '6.0' }).run({ drop: 'c' }), { code: 26, errmsg: 'ns not found' })
  t.same(await new NodeUnderTest({ version: '2.6' }).run({ drop: 'c' }), { ok: 0, errmsg: 'ns not found' })
  await node.ok({ insert: 'a', documents: [{}] })
  t.same(await node.ok({ dropDatabase: 1 }), { dropped: 'test', ok: 1 })
  t.same(await node.ok({ dropDatabase: 1 }), { ok: 1 })
})

t.test('listCollections and listDatabases list names, options and sizes', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'b', documents: [{ _id: 1 }] })
  await node.ok({ create: 'a.x' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] }, { db: 'other' })
  const list = batch(await node.ok({ listCollections: 1 }))
  t.same(list.map((each) => each['name']).sort(), ['a.x', 'b'])
  t.same(Object.keys(list[0]!), ['name', 'type', 'options', 'info', 'idIndex'])
  t.match(list[0], {
    type: 'collection',
    options: {},
    info: { readOnly: false },
    idIndex: { v: 2, key: { _id: 1 }, name: '_id_' },
  })
  t.same(batch(await node.ok({ listCollections: 1, nameOnly: true, filter: { name: 'b' } })), [
    { name: 'b', type: 'collection' },
  ])
  const reply = await node.raw({ listDatabases: 1 }, { db: 'admin' })
  t.equal(shape(reply), 'databases:array totalSize:long totalSizeMb:long ok:double')
  t.equal(shape(reply, 'databases.0'), 'name:string sizeOnDisk:long empty:bool')
  t.same(
    (decode(reply)['databases'] as Document[]).map((each) => each['name']),
    ['other', 'test'],
  )
  t.same(await node.ok({ listDatabases: 1, nameOnly: true }, { db: 'admin' }), {
    databases: [{ name: 'other' }, { name: 'test' }],
    ok: 1,
  })
})

t.test('createIndexes builds all of its indexes or none', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
    ],
  })
  const indexes = [
    { key: { b: 1 }, name: 'b_1' },
    { key: { a: 1 }, name: 'a_1', unique: true },
  ]
  t.match(await node.run({ createIndexes: 'c', indexes }), {
    ok: 0,
    code: 11000,
    errmsg: /^Index build failed: .* :: caused by :: E11000 /,
  })
  t.same(
    batch(await node.ok({ listIndexes: 'c' })).map((spec) => spec['name']),
    ['_id_'],
  )
})

t.test('createIndexes replies with the counts of indexes and refuses invalid specifications', async (t) => {
  const node = new NodeUnderTest()
  const index = { key: { a: 1 }, name: 'a_1' }
  const made = await node.raw({ createIndexes: 'c', indexes: [index] })
  t.equal(
    shape(made),
    'numIndexesBefore:int numIndexesAfter:int createdCollectionAutomatically:bool commitQuorum:string ok:double',
  )
  t.same(decode(made), {
    numIndexesBefore: 1,
    numIndexesAfter: 2,
    createdCollectionAutomatically: true,
    commitQuorum: 'votingMembers',
    ok: 1,
  })
  t.same(await node.ok({ createIndexes: 'c', indexes: [index] }), {
    numIndexesBefore: 2,
    numIndexesAfter: 2,
    note: 'all indexes already exist',
    ok: 1,
  })
  for (const [commitQuorum, code] of [
    [0, null],
    [1, null],
    ['majority', null],
    [2, 278],
    [50, 278],
    [51, 9],
    [-1, 9],
    ['east', 79],
    [{}, 9],
  ] as const) {
    const name = `q${String(commitQuorum)}`
    const reply = await node.run({ createIndexes: 'q', indexes: [{ key: { [name]: 1 }, name }], commitQuorum })
    t.match(
      reply,
      code === null ? { ok: 1, commitQuorum } : { ok: 0, code },
      `commitQuorum ${JSON.stringify(commitQuorum)}`,
    )
  }
  t.equal(node.node.collection('test.q')?.indexes().length, 4, 'and nothing is built')
  t.match(await new NodeUnderTest({ version: '4.0' }).run({ createIndexes: 'q', indexes: [index], commitQuorum: 1 }), {
    code: 2,
    errmsg: 'Invalid field specified for createIndexes command: commitQuorum',
  })
  t.equal((await node.run({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'a_1' }] }))['code'], 86)
  t.equal((await node.run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'other' }] }))['code'], 85)
  t.equal((await node.run({ createIndexes: 'new', indexes: [{ key: { a: 'nonsense' }, name: 'x' }] }))['code'], 67)
  t.equal(node.node.collection('test.new'), undefined, 'checked before anything is made')
  t.same(batch(await node.ok({ listIndexes: 'c' })), [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { a: 1 }, name: 'a_1' },
  ])
})

t.test('the commands of a connecting client reply with the types of the server', async (t) => {
  const node = new NodeUnderTest()
  const client = async (command: Document) =>
    (
      await node.node.clientCommand({
        connectionId: 7,
        body: encode(command),
        sequences: [],
        legacy: false,
        remote: '10.0.0.1:5000',
      })
    ).body
  const hello = await client({ hello: 1, helloOk: true, $db: 'admin' })
  t.equal(
    shape(hello),
    'topologyVersion:object hosts:array setName:string setVersion:int isWritablePrimary:bool secondary:bool primary:string me:string electionId:objectId lastWrite:object isImplicitDefaultMajorityWC:bool helloOk:bool maxBsonObjectSize:int maxMessageSizeBytes:int maxWriteBatchSize:int localTime:date logicalSessionTimeoutMinutes:int connectionId:int minWireVersion:int maxWireVersion:int readOnly:bool ok:double $clusterTime:object operationTime:timestamp',
  )
  t.match(decode(hello), {
    isWritablePrimary: true,
    setName: 'shard01',
    connectionId: 7,
    maxWireVersion: 21,
    minWireVersion: 0,
    logicalSessionTimeoutMinutes: 30,
    maxBsonObjectSize: 16777216,
    maxMessageSizeBytes: 48000000,
    maxWriteBatchSize: 100000,
  })
  t.match(decode(await client({ isMaster: 1, $db: 'admin' })), { ismaster: true })
  t.notOk('isWritablePrimary' in decode(await client({ ismaster: 1, $db: 'admin' })))
  const ofAnother = { processId: new ObjectId(), counter: Long.fromNumber(6) }
  t.match(decode(await client({ hello: 1, topologyVersion: ofAnother, maxAwaitTimeMS: 500, $db: 'admin' })), { ok: 1 })
  t.same(node.context.sleeps, [], 'a client with the topology of another process gets its reply at once')
  const { topologyVersion } = decode(hello)
  t.match(decode(await client({ hello: 1, topologyVersion, maxAwaitTimeMS: 500, $db: 'admin' })), { ok: 1 })
  t.same(node.context.sleeps, [500])
  t.equal(decode(await client({ hello: 1, maxAwaitTimeMS: 500, $db: 'admin' }))['code'], 31368)
  t.equal(decode(await client({ hello: 1, topologyVersion, $db: 'admin' }))['code'], 31368)
  t.equal(decode(await client({ hello: 1, topologyVersion, maxAwaitTimeMS: -1, $db: 'admin' }))['code'], 31373)
  t.match(decode(await client({ buildInfo: 1, $db: 'admin' })), {
    version: '7.0.25',
    versionArray: [7, 0, 25, 0],
    bits: 64,
    ok: 1,
  })
  t.match(decode(await client({ whatsmyuri: 1, $db: 'admin' })), { you: '10.0.0.1:5000' })
  t.match(decode(await client({ getParameter: 1, featureCompatibilityVersion: 1, $db: 'admin' })), {
    featureCompatibilityVersion: { version: '7.0' },
  })
  t.equal(decode(await client({ getParameter: 1, nonsense: 1, $db: 'admin' }))['code'], 72)
  t.match(decode(await client({ connectionStatus: 1, $db: 'admin' })), {
    authInfo: { authenticatedUsers: [], authenticatedUserRoles: [] },
  })
  t.equal(decode(await client({ getLog: 'nonsense', $db: 'admin' }))['code'], 96)
  t.match(decode(await client({ getLog: '*', $db: 'admin' })), { names: ['global', 'startupWarnings'] })
  t.equal(node.node.connections.current, 1)
  await node.node.serve('client.disconnected', { connectionId: 7 })
  t.equal(node.node.connections.current, 0)
})

t.test('serverStatus counts operations', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  await node.ok({ find: 'c', batchSize: 1 })
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 1 } } }] })
  node.context.nowMs += 5000
  const status = decode(await node.raw({ serverStatus: 1 }), { promoteLongs: true })
  t.match(status, {
    process: 'mongod',
    version: '7.0.25',
    uptime: 5,
    uptimeMillis: 5000,
    opcounters: { insert: 2, query: 1, update: 1, delete: 0 },
    metrics: { cursor: { open: { total: 1 } } },
    repl: { setName: 'shard01' },
  })
})

t.test('an unexpected error is replied, and the node continues', async (t) => {
  const node = new NodeUnderTest({
    role: {
      name: 'shard',
      setName: 's',
      memberName: 's',
      rows: [],
      enter: () => {
        throw new TypeError('a bug')
      },
      checkReplacement: () => {},
      checkImplicitCreate: () => {},
    },
  })
  t.match(await node.run({ find: 'c' }), { ok: 0, code: 1, codeName: 'InternalError', errmsg: 'a bug' })
})

for (const [version, has] of [
  ['4.0', false],
  ['4.4', true],
  ['8.0', true],
] as const)
  t.test(`errors about the state of a member ${has ? 'have' : 'lack'} topologyVersion, ${version}`, async (t) => {
    const node = new NodeUnderTest({ version })
    const client = async (command: Document, db = 'test') => {
      const request = { connectionId: 1, sequences: [], legacy: false, remote: 'h:1' }
      const { body } = await node.node.clientCommand({ ...request, body: encode({ ...command, $db: db }) })
      return decode(body)
    }
    const insert = { insert: 'c', documents: [{}] }
    t.notOk('topologyVersion' in (await client(insert)))
    t.notOk('topologyVersion' in (await client({ insert: 'c', documents: [] })), 'of another error')
    const before = (await client({ hello: 1 }))['topologyVersion']
    await node.stepDown()
    const refused = await client(insert)
    t.match(refused, { ok: 0, code: 10107 })
    t.same(refused['topologyVersion'], has ? (await client({ hello: 1 }))['topologyVersion'] : undefined)
    if (has) t.ok(Number(refused['topologyVersion'].counter) > Number(before.counter))
    await node.stepUp()
    const writeConcernError = { code: 189, errmsg: 'x' }
    const data = { failCommands: ['insert'], writeConcernError }
    await client({ configureFailPoint: 'failCommand', mode: { times: 1 }, data }, 'admin')
    const late = await client(insert)
    t.match(late, { ok: 1, n: 1, writeConcernError })
    t.equal('topologyVersion' in late, has)
  })
