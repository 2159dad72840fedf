import { decode, encode, findField, Long, UUID, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest, session, shape } from './support/harness.js'

const admin = { db: 'admin' }

async function filled(version: EmulatedVersion = '7.0'): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({
    insert: 'c',
    documents: Array.from({ length: 10 }, (_, i) => ({ _id: i, a: i, text: 'x'.repeat(100) })),
  })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  return node
}

const bytes = 10 * 132

t.test('collStats reports sizes; D701: storageSize is the size of the documents', async (t) => {
  const node = await filled()
  const reply = await node.raw({ collStats: 'c' })
  t.equal(
    shape(reply),
    'ns:string size:int count:int avgObjSize:int numOrphanDocs:int storageSize:int freeStorageSize:int capped:bool nindexes:int indexDetails:object indexBuilds:array totalIndexSize:int totalSize:int indexSizes:object scaleFactor:int ok:double',
  )
  t.match(decode(reply), {
    ns: 'test.c',
    size: bytes,
    count: 10,
    avgObjSize: 132,
    storageSize: bytes,
    freeStorageSize: 0,
    nindexes: 2,
    indexDetails: { a_1: { metadata: { formatVersion: 8 } } },
  })
  t.match(await node.ok({ collstats: 'c', scale: 1000 }), { size: 1, scaleFactor: 1000, avgObjSize: 132 })
  t.match(await node.run({ collStats: 'c', scale: 0 }), { code: 2, errmsg: 'scale has to be >= 1' })
  t.match(await node.run({ collStats: 'c', scale: 'x' }), { code: 2, errmsg: 'scale has to be a number >= 1' })
  t.match(await node.ok({ collStats: 'missing' }), { ns: 'test.missing', size: 0, count: 0, nindexes: 0 })
})

t.test('$collStats returns one document with the requested sections', async (t) => {
  const node = await filled()
  const stage = async (argument: unknown, collection = 'c') =>
    node.run({ aggregate: collection, pipeline: [{ $collStats: argument }], cursor: {} })
  const one = async (argument: unknown) =>
    ((await stage(argument))['cursor'] as { firstBatch: Document[] }).firstBatch[0]!
  t.same(Object.keys(await one({})), ['ns', 'shard', 'host', 'localTime'])
  t.match(await one({ count: {} }), { count: 10 })
  t.match(await one({ storageStats: { scale: 10 } }), {
    storageStats: { size: bytes / 10, count: 10, scaleFactor: 10 },
  })
  const { latencyStats } = await one({ latencyStats: { histograms: true } })
  t.match(latencyStats, {
    writes: { ops: Long.ONE, histogram: [{ micros: Long.ZERO, count: Long.ONE }] },
    transactions: { ops: Long.ZERO },
  })
  await node.ok({ drop: 'c' })
  await node.ok({ create: 'c' })
  t.match(
    await one({ latencyStats: {} }),
    { latencyStats: { writes: { ops: Long.ZERO }, commands: { ops: Long.ONE } } },
    'another collection of that name: only its creation is counted',
  )
  t.match(await stage({ storageStats: {} }, 'missing'), {
    code: 26,
    errmsg: /^Unable to retrieve storageStats in \$collStats stage/,
  })
  t.match(await stage(1), { code: 5447000 })
  t.match(await stage({ nonsense: {} }), { code: 40415 })
  t.match(await stage({ count: 1 }), { code: 14 })
})

t.test('$indexStats counts the uses of indexes by plans', async (t) => {
  const node = await filled()
  await node.ok({ find: 'c', filter: { a: 3 } })
  const { cursor } = await node.ok({
    aggregate: 'c',
    pipeline: [{ $indexStats: {} }, { $sort: { name: 1 } }],
    cursor: {},
  })
  const [, a] = (cursor as { firstBatch: Document[] }).firstBatch
  t.match(a, {
    name: 'a_1',
    key: { a: 1 },
    accesses: { ops: Long.ONE, since: Date },
    shard: 'shard01',
    spec: { v: 2, name: 'a_1' },
  })
  t.match(await node.run({ aggregate: 'c', pipeline: [{ $indexStats: { a: 1 } }], cursor: {} }), { code: 28803 })
  const again = new NodeUnderTest({ checkpointAfterBytes: 1 })
  await again.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.ok(again.context.disk.checkpointCount > 0)
  const restarted = again.restarted()
  const { cursor: afterwards } = await restarted.ok({ aggregate: 'c', pipeline: [{ $indexStats: {} }], cursor: {} })
  const [id] = (afterwards as { firstBatch: Document[] }).firstBatch
  t.same(
    id!['accesses'],
    { ops: Long.ZERO, since: new Date(restarted.node.startedAtMs) },
    'a restart resets the counters',
  )
})

t.test('dbStats sums the sizes of the collections', async (t) => {
  const node = await filled()
  await node.ok({ create: 'empty' })
  const reply = await node.raw({ dbStats: 1 })
  t.equal(
    shape(reply),
    'db:string collections:long views:long objects:long avgObjSize:double dataSize:double storageSize:double indexes:long indexSize:double totalSize:double scaleFactor:long ok:double',
  )
  t.match(decode(reply), {
    db: 'test',
    collections: Long.fromNumber(2),
    objects: Long.fromNumber(10),
    dataSize: bytes,
    indexes: Long.fromNumber(3),
  })
  t.match(await node.ok({ dbstats: 1, scale: 100, freeStorage: 1 }), { dataSize: bytes / 100, totalFreeStorageSize: 0 })
  t.match(await node.ok({ dbStats: 1 }, { db: 'nothing' }), { collections: Long.ZERO, objects: Long.ZERO })
  t.match(await node.run({ dbStats: 1, scale: 0 }), { code: 2 })
})

t.test('dataSize measures a collection, estimates it, or measures a key range', async (t) => {
  const node = await filled()
  t.equal(
    shape(await node.raw({ dataSize: 'test.c' })),
    'size:long numObjects:long millis:long estimate:bool ok:double',
  )
  const size = async (command: Document) => {
    const { size: total, numObjects } = await node.ok({ dataSize: 'test.c', ...command })
    return [Number(total), Number(numObjects)]
  }
  t.same(await size({}), [bytes, 10])
  t.same(await size({ estimate: true }), [bytes, 10])
  t.same(await size({ keyPattern: { a: 1 }, min: { a: 2 }, max: { a: 5 } }), [3 * 132, 3])
  t.same(await size({ min: { a: 2 }, max: { a: 5 } }), [3 * 132, 3], 'the bounds imply the pattern')
  t.match(await node.ok({ dataSize: 'test.c', maxObjects: 4 }), { maxReached: true, numObjects: Long.fromNumber(5) })
  t.same(await size({ keyPattern: { a: 1 } }), [bytes, 10])
  t.match(await node.run({ dataSize: 'test.c', keyPattern: { b: 1 }, min: { b: 1 }, max: { b: 2 } }), { code: 96 })
  t.match(await node.run({ dataSize: 'test.c', min: { a: 1 } }), {
    code: 2,
    errmsg: 'Only one of min or max specified',
  })
  t.match(await node.run({ dataSize: 'nothing' }), { code: 73 })
  t.match(await node.run({ dataSize: 1 }), { code: 14 })
})

t.test('validate reports invalid documents', async (t) => {
  const node = await filled()
  const result = await node.ok({ validate: 'c' })
  t.ok(result['uuid'] instanceof UUID)
  t.match(result, {
    ns: 'test.c',
    nInvalidDocuments: 0,
    nNonCompliantDocuments: 0,
    nrecords: 10,
    nIndexes: 2,
    keysPerIndex: { _id_: 10, a_1: 10 },
    indexDetails: { _id_: { valid: true }, a_1: { valid: true } },
    valid: true,
    repaired: false,
    warnings: [],
    errors: [],
    extraIndexEntries: [],
    missingIndexEntries: [],
    corruptRecords: [],
  })
  t.match(await node.run({ validate: 'missing' }), {
    code: 26,
    errmsg: "Collection 'test.missing' does not exist to validate.",
  })
  await node.ok({ create: 'v', viewOn: 'c', pipeline: [] })
  t.match(await node.run({ validate: 'v' }), { code: 166, errmsg: 'Cannot validate a view' })
  const refused = async (options: Document) => node.run({ validate: 'c', ...options })
  t.match(await refused({ repair: true }), {
    code: 72,
    errmsg: 'Running the validate command with { repair: true } can only be performed in standalone mode.',
  })
  t.match(await refused({ background: true, full: true }), {
    code: 72,
    errmsg: 'Running the validate command with both { background: true } and { full: true } is not supported.',
  })
  t.match(await refused({ metadata: true, full: true }), {
    code: 72,
    errmsg: 'Running the validate command with { metadata: true } is not supported with any other options',
  })
  t.match(await refused({ checkBSONConformance: false, full: true }), { code: 72 })
  t.match(await (await filled('5.0')).run({ validate: 'c', background: true, full: true }), { code: 115 })
})

t.test('the fields of validate depend on the version', async (t) => {
  const fieldsIn = async (version: EmulatedVersion) => Object.keys(await (await filled(version)).ok({ validate: 'c' }))
  const all = await fieldsIn('8.0')
  const before = async (version: EmulatedVersion, gone: readonly string[]) =>
    t.same(
      await fieldsIn(version),
      all.filter((name) => !gone.includes(name)),
      version,
    )
  await before('6.0', ['uuid'])
  await before('5.0', ['uuid', 'nNonCompliantDocuments'])
  await before('4.4', ['uuid', 'nNonCompliantDocuments', 'repaired', 'corruptRecords'])
})

t.test('validate finds missing and extra index entries; D708: values of extra entries', async (t) => {
  const node = await filled()
  // The test damages the index directly, because no command does.
  interface Damageable {
    readonly entries: number
    keysOf(document: Uint8Array): readonly string[]
    insert(keys: { keys: readonly string[]; arrays: null }, recordId: number): void
    remove(document: Uint8Array, recordId: number): void
  }
  const index = node.node.collection('test.c')!.index('a_1') as unknown as Damageable
  const document = encode({ a: 3 })
  const keys = { keys: index.keysOf(document), arrays: null }
  t.equal(index.entries, 10, 'all keys were loaded, so one can be removed')
  index.remove(document, node.node.collection('test.c')!.findById(findField(encode({ _id: 3 }), '_id')!)!.recordId)
  index.insert(keys, 999)
  const result = await node.ok({ validate: 'c' })
  t.match(result, {
    valid: false,
    indexDetails: { _id_: { valid: true }, a_1: { valid: false } },
    warnings: ['Detected 1 missing index entries.', 'Detected 1 extra index entries.'],
    errors: ["Index with name 'a_1' has inconsistencies."],
    missingIndexEntries: [{ indexName: 'a_1', idKey: { _id: 3 }, indexKey: { a: 3 } }],
    extraIndexEntries: [{ indexName: 'a_1', recordId: Long.fromNumber(999) }],
  })
  t.same(Object.keys(result['missingIndexEntries'][0]), ['indexName', 'recordId', 'idKey', 'indexKey'])
  t.same(Object.keys(result['extraIndexEntries'][0]), ['indexName', 'recordId', 'indexKey'])
  t.same(Buffer.from(result['extraIndexEntries'][0].indexKey.a.buffer).toString('latin1'), keys.keys[0])
  t.match(result['advice'], /^A corrupt namespace has been detected/)
})

t.test(
  'serverStatus has its sections in order of names, excluded and included; D700: none of the machine',
  async (t) => {
    const node = await filled()
    const status = decode(await node.raw({ serverStatus: 1 }))
    t.match(status, { pid: Long.ONE, mem: { resident: 1 }, storageEngine: { name: 'ephemeralForTest' } })
    t.same(Object.keys(status), [
      'host',
      'version',
      'process',
      'pid',
      'uptime',
      'uptimeMillis',
      'uptimeEstimate',
      'localTime',
      'asserts',
      'connections',
      'extra_info',
      'globalLock',
      'logicalSessionRecordCache',
      'network',
      'opLatencies',
      'opcounters',
      'opcountersRepl',
      'repl',
      'sharding',
      'shardingStatistics',
      'storageEngine',
      'transactions',
      'transportSecurity',
      'twoPhaseCommitCoordinator',
      'mem',
      'metrics',
      'ok',
    ])
    await node.run({ nonsense: 1 })
    await node.run({ find: 'c', limit: -1 })
    const after = decode(await node.raw({ serverStatus: 1, repl: 0 }))
    t.notOk('repl' in after)
    t.match(after['asserts'], { user: 1 })
    t.match(after['metrics'], {
      commands: { '<UNKNOWN>': Long.ONE, find: { failed: Long.ONE, total: Long.ONE }, insert: { total: Long.ONE } },
      document: { inserted: Long.fromNumber(10) },
    })
    t.match(after['opLatencies'], { reads: { ops: Long.ONE }, writes: { ops: Long.ONE } })
    t.ok(Number(after['network'].numRequests) >= 4 && Number(after['network'].bytesIn) > bytes)
    t.notOk('metrics' in decode(await node.raw({ serverStatus: 1, metrics: 0, mem: 0 })))
    const raw = await node.raw({ serverStatus: 1 })
    t.equal(
      shape(raw, 'connections'),
      'current:int available:int totalCreated:int rejected:int active:int threaded:int exhaustIsMaster:int exhaustHello:int awaitingTopologyChanges:int',
    )
    t.equal(
      shape(raw, 'network'),
      'bytesIn:long bytesOut:long physicalBytesIn:long physicalBytesOut:long numSlowDNSOperations:long numSlowSSLOperations:long numRequests:long',
    )
  },
)

t.test('D700: buildInfo describes no build, and streamed hellos and compression are not counted', async (t) => {
  const node = await filled()
  t.match(await node.ok({ buildInfo: 1 }, admin), {
    gitVersion: '0'.repeat(40),
    modules: [],
    javascriptEngine: 'none',
    openssl: { running: 'disabled', compiled: 'disabled' },
  })
  const { connections, network } = await node.ok({ serverStatus: 1 })
  t.equal((connections as Document)['exhaustHello'], 0)
  t.same((network as Document)['physicalBytesIn'], (network as Document)['bytesIn'])
  t.ok('logicalSessionRecordCache' in (await (await filled('2.6')).ok({ serverStatus: 1 })))
})

t.test('replSetGetStatus of a set of one describes the last election', async (t) => {
  const node = await filled()
  const status = () => node.ok({ replSetGetStatus: 1 }, admin)
  const first = await status()
  t.match(first, {
    term: Long.fromNumber(1),
    votingMembersCount: 1,
    electionCandidateMetrics: { lastElectionReason: 'singleNodePromptElection', electionTerm: Long.fromNumber(1) },
    members: [{ state: 1, self: true, configTerm: 1, lastHeartbeatMessage: '' }],
  })
  t.same((first['optimes'] as Document)['lastCommittedOpTime'], (first['optimes'] as Document)['appliedOpTime'])
  node.context.nowMs += 60_000
  await node.stepDown()
  t.match(await status(), { myState: 2, members: [{ stateStr: 'SECONDARY' }] })
  await node.stepUp()
  const second = await status()
  t.match(second, { term: Long.fromNumber(2), electionCandidateMetrics: { electionTerm: Long.fromNumber(2) } })
  const electionMs = ({ members }: Document) => (members as Document[])[0]!['electionDate'].getTime()
  t.equal(electionMs(second) - electionMs(first), 60_000)
})

t.test('a member lists the sessions of its commands', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ ping: 1, lsid: session(3) })
  const list = async (argument: unknown, db = 'test') =>
    node.run({ aggregate: 1, pipeline: [{ $listLocalSessions: argument }], cursor: {} }, { db })
  t.match(await list({}), { cursor: { firstBatch: [{ _id: { id: session(3).id, uid: Object }, lastUse: Date }] } })
  t.match(await list({ users: [{ user: 'ada', db: 'admin' }] }), { cursor: { firstBatch: [] } })
  t.match(await list({ allUsers: true, users: [{ user: 'ada', db: 'admin' }] }), { code: 12 })
  t.match(await list({ nonsense: 1 }), { code: 40415 })
  t.match(await list(1), { code: 14 })
})

t.test('the other commands of a member reply; D704: without JavaScript', async (t) => {
  const node = new NodeUnderTest()
  const { commands } = await node.ok({ listCommands: 1 })
  t.match(commands, {
    find: { requiresAuth: true, adminOnly: false, apiVersions: ['1'] },
    killOp: { adminOnly: true, apiVersions: [] },
  })
  t.equal(shape(await node.raw({ features: 1 })), 'oidMachine:int ok:double')
  t.match(await node.ok({ connPoolStats: 1 }), { totalInUse: 0, hosts: {} })
  t.match(await node.ok({ replSetGetStatus: 1 }, admin), {
    set: 'shard01',
    myState: 1,
    members: [{ stateStr: 'PRIMARY', self: true }],
  })
  t.match(await node.run({ getDefaultRWConcern: 1 }, admin), { code: 51301 })
  for (const command of [
    { createSearchIndexes: 'c', indexes: [] },
    { dropSearchIndex: 'c', name: 'x' },
    { updateSearchIndex: 'c', name: 'x', definition: {} },
  ])
    t.match(await node.run(command), { code: 31082, codeName: 'SearchNotEnabled', errmsg: /Atlas/ })
  t.match(await new NodeUnderTest({ version: '5.0' }).run({ createSearchIndexes: 'c', indexes: [] }), { code: 59 })
  t.match(await new NodeUnderTest({ version: '6.0' }).run({ getnonce: 1 }), { ok: 1, nonce: /^[0-9a-f]{16}$/ })
  t.match(await node.run({ getnonce: 1 }), { code: 59 })
  t.match(await node.run({ mapReduce: 'c', map: 'f', reduce: 'g', out: { inline: 1 } }), { code: 31264 })
})

t.test('fsync waits for the disk, and 2.6 refuses a lock', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  t.same(await node.ok({ fsync: 1 }, admin), { numFiles: 1, ok: 1 })
  t.match(await node.run({ fsync: 1, lock: true }, admin), { code: 72 })
})

t.test('metrics count the documents that commands read and change', async (t) => {
  const node = await filled()
  await node.ok({ update: 'c', updates: [{ q: {}, u: { $inc: { a: 1 } }, multi: true }] })
  await node.ok({ delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] })
  const { cursor } = await node.ok({ find: 'c', batchSize: 2 })
  await node.ok({ getMore: cursor.id, collection: 'c', batchSize: 3 })
  t.match(await node.ok({ serverStatus: 1 }), {
    metrics: {
      document: {
        deleted: Long.ONE,
        inserted: Long.fromNumber(10),
        returned: Long.fromNumber(5),
        updated: Long.fromNumber(10),
      },
      ttl: { deletedDocuments: Long.ZERO, passes: Long.ZERO },
      cursor: { open: { total: Long.ONE } },
    },
  })
})
