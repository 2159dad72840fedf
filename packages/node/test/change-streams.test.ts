import { encode, Long, Timestamp, type Document } from '@shardlab/bson'
import { ShardKeyPattern } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest, plainRole, session } from './support/harness.js'
import { ok, run, Stream } from './support/stream.js'

const types = (events: Document[]) => events.map(({ operationType }) => operationType as string)

t.test('a stream on a collection has its inserts, updates, replacements and deletes', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const stream = await Stream.open(node, 'c')
  const long = 'x'.repeat(100)
  const b = Array.from({ length: 40 }, (_, i) => i)
  await ok(node, { insert: 'c', documents: [{ _id: 1, a: { b }, x: 1, long }] })
  await ok(node, { insert: 'other', documents: [{ _id: 1 }] })
  const set = { $set: { 'a.b.0': 9, y: 2 }, $unset: { x: 1 } }
  await ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u: set }] })
  await ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u: [{ $set: { 'a.b': { $slice: ['$a.b', 8] } } }] }] })
  await ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u: { z: 1 } }] })
  await ok(node, { delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] })
  await ok(node, { insert: 'other', documents: [{ _id: 2 }] })
  const events = await stream.read()
  t.same(types(events), ['insert', 'update', 'update', 'replace', 'delete'])
  t.match(events, [
    { fullDocument: { _id: 1, a: { b }, x: 1 }, documentKey: { _id: 1 }, ns: { db: 'test', coll: 'c' } },
    { updateDescription: { updatedFields: { y: 2, 'a.b.0': 9 }, removedFields: ['x'], truncatedArrays: [] } },
    { updateDescription: { updatedFields: {}, truncatedArrays: [{ field: 'a.b', newSize: 8 }] } },
    { fullDocument: { _id: 1, z: 1 } },
    { documentKey: { _id: 1 } },
  ])
  t.same(Object.keys(events[0]!), [
    '_id',
    'operationType',
    'clusterTime',
    'wallTime',
    'fullDocument',
    'ns',
    'documentKey',
  ])
  t.same(Object.keys(events[4]!), ['_id', 'operationType', 'clusterTime', 'wallTime', 'ns', 'documentKey'])
  t.ok(stream.token['_data'] > events[4]!['_id']._data, 'the token has passed the insert into the other collection')
})

t.test('tokens are those of the server', async (t) => {
  for (const [version, event, mark] of [
    ['6.0', /^82[0-9A-F]{16}2B022C0100296E5A1004[0-9A-F]{32}461E5F6964002B020004$/, /^82[0-9A-F]{16}2B0229296E04$/],
    [
      '7.0',
      /^82[0-9A-F]{16}2B042C0100296E5A1004[0-9A-F]{32}463C6F7065726174696F6E54797065003C696E736572740046646F63756D656E744B657900461E5F6964002B02000004$/,
      /^82[0-9A-F]{16}2B0429296E1404$/,
    ],
  ] as const) {
    const node = new NodeUnderTest({ version })
    const stream = await Stream.open(node, 'c')
    t.match(stream.token, { _data: mark })
    await ok(node, { insert: 'c', documents: [{ _id: 1 }] })
    const [inserted] = await stream.read()
    t.match(inserted, { _id: { _data: event } })
    t.same(stream.token, inserted!['_id'])
  }
})

t.test('a stream resumes after every token, and after the token of each batch', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const stream = await Stream.open(node, 'c')
  const start = stream.token
  for (let i = 0; i < 5; i++) {
    await ok(node, { insert: 'c', documents: [{ _id: i }, { _id: `${i}` }] })
    await ok(node, { insert: 'other', documents: [{ _id: i }] })
  }
  const events = await stream.read()
  t.equal(events.length, 10)
  for (const option of ['resumeAfter', 'startAfter']) {
    t.same((await Stream.open(node, 'c', { [option]: start })).first, events)
    t.same((await Stream.open(node, 'c', { [option]: stream.token })).first, [])
    for (const [i, event] of events.entries())
      t.same((await Stream.open(node, 'c', { [option]: event['_id'] })).first, events.slice(i + 1))
  }
  const third = events[3]!['clusterTime'] as Timestamp
  t.same((await Stream.open(node, 'c', { startAtOperationTime: third })).first, events.slice(3))
})

t.test('a drop invalidates a stream on the collection, which can be started after it', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const stream = await Stream.open(node, 'c')
  const onDatabase = await Stream.open(node, 1)
  await ok(node, { insert: 'c', documents: [{ _id: 1 }] })
  await ok(node, { drop: 'c' })
  await ok(node, { insert: 'c', documents: [{ _id: 2 }] })
  const events = await stream.read()
  t.same(types(events), ['insert', 'drop', 'invalidate'])
  t.ok(stream.id.isZero())
  t.same(stream.token, events[2]!['_id'])
  t.same(Object.keys(events[2]!), ['_id', 'operationType', 'clusterTime', 'wallTime'])
  const pipeline = (options: Document) => ({ aggregate: 'c', pipeline: [{ $changeStream: options }], cursor: {} })
  t.match(await run(node, pipeline({ resumeAfter: events[2]!['_id'] })), { code: 260, codeName: 'InvalidResumeToken' })
  t.same(types((await Stream.open(node, 'c', { resumeAfter: events[1]!['_id'] })).first), ['invalidate'])
  t.same(types((await Stream.open(node, 'c', { startAfter: events[2]!['_id'] })).first), ['insert'])
  t.same(types(await onDatabase.read()), ['insert', 'drop', 'insert'])
  await ok(node, { dropDatabase: 1 })
  t.same(types(await onDatabase.read()), ['drop', 'dropDatabase', 'invalidate'])
})

t.test('a rename invalidates streams on its source and on its target', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await ok(node, { insert: 'a', documents: [{ _id: 1 }] })
  const streams = [await Stream.open(node, 'a'), await Stream.open(node, 'b')]
  await ok(node, { renameCollection: 'test.a', to: 'test.b', $db: 'admin' })
  for (const stream of streams) {
    const events = await stream.read()
    t.same(types(events), ['rename', 'invalidate'])
    t.match(events[0], { ns: { db: 'test', coll: 'a' }, to: { db: 'test', coll: 'b' } })
  }
})

t.test('expanded events describe definitions', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const stream = await Stream.open(node, 1, { showExpandedEvents: true })
  await ok(node, { create: 'c', capped: true, size: 4096 })
  await ok(node, { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  await ok(node, { collMod: 'c', index: { name: 'a_1', hidden: true } })
  await ok(node, { collMod: 'c' })
  await ok(node, { dropIndexes: 'c', index: 'a_1' })
  await ok(node, { create: 'v', viewOn: 'c', pipeline: [] })
  await ok(node, { drop: 'v' })
  const events = await stream.read()
  t.same(types(events), ['create', 'createIndexes', 'modify', 'modify', 'dropIndexes', 'create', 'drop'])
  t.match(events, [
    { collectionUUID: Object, operationDescription: { capped: true }, nsType: 'collection' },
    { operationDescription: { indexes: [{ key: { a: 1 }, name: 'a_1' }] } },
    { operationDescription: { index: { hidden: true } }, stateBeforeChange: { indexOptions: { hidden: false } } },
    { operationDescription: {}, stateBeforeChange: { indexOptions: undefined } },
    { operationDescription: { indexes: [{ key: { a: 1 }, name: 'a_1' }] } },
    { ns: { db: 'test', coll: 'v' }, operationDescription: { viewOn: 'c' }, nsType: 'view' },
    { ns: { db: 'test', coll: 'v' } },
  ])
  const classic = await Stream.open(node, 1)
  await ok(node, { create: 'd' })
  await ok(node, { createIndexes: 'd', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  t.same(await classic.read(), [])
})

t.test('updateLookup shows the current document, or null', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const stream = await Stream.open(node, 'c', { fullDocument: 'updateLookup' })
  await ok(node, { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  await ok(node, { update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] })
  await ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 2 } } }] })
  await ok(node, { delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }] })
  const events = await stream.read()
  t.same(
    events.slice(2, 5).map(({ fullDocument }) => fullDocument as unknown),
    [{ _id: 1, a: 2 }, null, { _id: 1, a: 2 }],
  )
})

t.test('stages select and change events, and must keep the token', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const stages = [{ $match: { operationType: 'insert' } }, { $project: { 'fullDocument.a': 1 } }]
  const stream = await Stream.open(node, 'c', {}, stages)
  await ok(node, { insert: 'c', documents: [{ _id: 1, a: 1, b: 1 }] })
  await ok(node, { delete: 'c', deletes: [{ q: {}, limit: 0 }] })
  t.match(await stream.read(), [{ _id: Object, fullDocument: { a: 1 } }])
  const without = await Stream.open(node, 'c', {}, [{ $project: { _id: 0 } }])
  await ok(node, { insert: 'c', documents: [{ _id: 2 }] })
  const fatal = { code: 280, codeName: 'ChangeStreamFatalError', errorLabels: ['NonResumableChangeStreamError'] }
  t.match(await run(node, { getMore: without.id, collection: 'c' }), fatal)
  const lookup = { $lookup: { from: 'd', as: 'd', pipeline: [] } }
  t.match(await run(node, { aggregate: 'c', pipeline: [{ $changeStream: {} }, lookup], cursor: {} }), { code: 20 })
})

t.test('an event that the stages leave out cannot be resumed', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const stream = await Stream.open(node, 'c')
  await ok(node, { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  const [first] = await stream.read()
  const pipeline = [{ $changeStream: { resumeAfter: first!['_id'] } }, { $match: { 'documentKey._id': 2 } }]
  const errorLabels = ['NonResumableChangeStreamError']
  t.match(await run(node, { aggregate: 'c', pipeline, cursor: {} }), { code: 280, errorLabels })
})

t.test('a label shows after which errors of a getMore a stream can be resumed, since 4.4', async (t) => {
  const resumable = [6, 7, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436]
  const others = [1, 43, 50, 136, 175, 216, 237, 249, 11601]
  for (const version of ['4.4', '7.0'] as const)
    for (const errorCode of [...resumable, ...others, 280, 286]) {
      const node = new NodeUnderTest({ version })
      const { id } = await Stream.open(node, 'c')
      const failPoint = { configureFailPoint: 'failGetMoreAfterCursorCheckout', mode: { times: 1 } }
      await ok(node, { ...failPoint, data: { errorCode }, $db: 'admin' })
      const { code, errorLabels } = await run(node, { getMore: id, collection: 'c' })
      const label = resumable.includes(errorCode) ? 'ResumableChangeStreamError' : 'NonResumableChangeStreamError'
      const expected = others.includes(errorCode) ? undefined : [label]
      t.same([code, errorLabels], [errorCode, expected], `${version} ${errorCode}`)
    }
})

t.test('a cursor that is gone is reported without a label: drivers know its code', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const { id } = await Stream.open(node, 'c')
  await ok(node, { killCursors: 'c', cursors: [id] })
  const { code, errorLabels } = await run(node, { getMore: id, collection: 'c' })
  t.same([code, errorLabels], [43, undefined])
})

t.test('a stream whose history is gone ends with the error of its version', async (t) => {
  for (const [version, wanted] of [
    ['4.0', { code: 40576, errorLabels: undefined }],
    ['4.4', { code: 286, codeName: 'ChangeStreamHistoryLost', errorLabels: ['NonResumableChangeStreamError'] }],
    ['8.0', { code: 286, codeName: 'ChangeStreamHistoryLost', errorLabels: ['NonResumableChangeStreamError'] }],
  ] as const) {
    const node = new NodeUnderTest({ version, oplogSizeBytes: 4096 })
    const { token } = await Stream.open(node, 'c')
    for (let i = 0; i < 100; i++) await ok(node, { insert: 'c', documents: [{ _id: i, text: 'x'.repeat(100) }] })
    for (const option of version === '4.0' ? ['resumeAfter'] : ['resumeAfter', 'startAfter']) {
      const pipeline = [{ $changeStream: { [option]: token } }]
      t.match(await run(node, { aggregate: 'c', pipeline, cursor: {} }), wanted, version)
    }
  }
})

t.test('the message of the first no-op that is left may be a document', async (t) => {
  const node = new NodeUnderTest({ version: '7.0', oplogSizeBytes: 4096 })
  const { token } = await Stream.open(node, 'c')
  // As no-ops about sharding have it.
  const object = encode({ msg: { refineCollectionShardKey: 'test.c', text: 'x'.repeat(100) } })
  for (let i = 0; i < 100; i++) {
    node.node.apply({ op: 'n', ns: 'test.c', uuid: null, object, id: null, session: null })
    await node.node.flush()
  }
  const pipeline = [{ $changeStream: { resumeAfter: token } }]
  t.match(await run(node, { aggregate: 'c', pipeline, cursor: {} }), { code: 286 })
})

t.test('refusals have the codes of the server', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const refused = async (options: unknown, wanted: Document, collection: string | 1 = 'c', db = 'test') =>
    t.match(
      await run(node, { aggregate: collection, pipeline: [{ $changeStream: options }], cursor: {}, $db: db }),
      wanted,
    )
  await refused(1, { code: 50808 })
  await refused({ x: 1 }, { code: 40415 })
  await refused({ fullDocument: 'x' }, { code: 2 })
  await refused({ allChangesForCluster: true }, { code: 72 })
  await refused({}, { code: 73 }, 1, 'admin')
  await refused({}, { code: 73 }, 1, 'local')
  await refused({}, { code: 73 }, 'system.views')
  await ok(node, { create: 'v', viewOn: 'c', pipeline: [] })
  await refused({}, { code: 166, errmsg: 'Namespace test.v is a view, not a collection' }, 'v')
  await refused({ resumeAfter: { _data: 1 } }, { code: 40647 })
  await refused({ resumeAfter: { _data: 'xy' } }, { code: 9 })
  await refused({ resumeAfter: { _data: '' } }, { code: 40649 })
  await refused({ resumeAfter: { _data: '82000000000000000104' } }, { code: 50796 })
  await refused(
    { startAtOperationTime: new Timestamp({ t: 1, i: 1 }), resumeAfter: { _data: '8200000001000000012B0229296E04' } },
    { code: 40674 },
  )
  t.match(
    await run(new NodeUnderTest({ version: '7.0' }), {
      aggregate: 1,
      pipeline: [{ $changeStream: { allChangesForCluster: true } }],
      cursor: {},
      $db: 'admin',
    }),
    { ok: 1 },
  )
})

t.test('the description of an update depends on the version', async (t) => {
  const a = Array.from({ length: 40 }, (_, i) => ({ b: i }))
  const shorter = [{ $set: { a: { $slice: ['$a', 38] } } }]
  for (const version of ['4.0', '4.4', '5.0', '6.0', '7.0'] as const) {
    const node = new NodeUnderTest({ version })
    const hasExpanded = version >= '6'
    const stream = await Stream.open(node, 'c', hasExpanded ? { showExpandedEvents: true } : {})
    await ok(node, { insert: 'c', documents: [{ _id: 1, a, o: { 1: { c: 0 }, x: 1 } }] })
    const update = (u: Document | Document[]) => ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u }] })
    await update({ $set: { 'a.1.b': 9, 'o.1.c': 5 }, $unset: { 'o.x': 1 } })
    await update({ $push: { a: { b: 40 } } })
    await update({ $push: { a: { $each: [], $slice: 39 } } })
    if (version > '4.0') await update(shorter)
    const arrays = version >= '5' ? { truncatedArrays: [] } : {}
    const paths = (disambiguatedPaths: Document) => (version === '7.0' ? { disambiguatedPaths } : {})
    const [set, pushed, cut, sliced] = (await stream.read()).filter(({ operationType }) =>
      /update|replace/.test(operationType),
    )
    t.same(set!['updateDescription'], {
      updatedFields: { 'a.1.b': 9, 'o.1.c': 5 },
      removedFields: ['o.x'],
      ...arrays,
      ...paths({ 'o.1.c': ['o', '1', 'c'] }),
    })
    t.same(pushed!['updateDescription'].updatedFields, { 'a.40': { b: 40 } })
    t.match(cut!['updateDescription'], { updatedFields: { a: Array }, removedFields: [], ...arrays })
    t.equal(cut!['updateDescription'].updatedFields.a.length, 39)
    if (version === '4.0') continue
    if (version === '4.4') t.match(sliced, { operationType: 'replace', fullDocument: { a: Array, _id: 1 } })
    else
      t.match(sliced, {
        operationType: 'update',
        updateDescription: { updatedFields: {}, truncatedArrays: [{ field: 'a', newSize: 38 }] },
      })
  }
})

t.test('until 5.0 an insert before the collection was sharded shows the shard key', async (t) => {
  const shardKey = ShardKeyPattern.parse(encode({ k: 1 }), { compoundHashed: true })
  let isSharded = false
  const node = new NodeUnderTest({
    version: '5.0',
    role: { ...plainRole, shardKeyOf: () => (isSharded ? shardKey : null) },
  })
  const stream = await Stream.open(node, 'c')
  await ok(node, { insert: 'c', documents: [{ _id: 1, k: 2 }] })
  isSharded = true
  t.match(await stream.read(), [{ documentKey: { k: 2, _id: 1 } }])
})

t.test('operations of a transaction are events of one time, in order, when it commits', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  await ok(node, { create: 'c' })
  await ok(node, { create: 'd' })
  const stream = await Stream.open(node, 'c')
  const lsid = session(1)
  const inTransaction = { lsid, txnNumber: Long.fromNumber(1), autocommit: false }
  await ok(node, { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], ...inTransaction, startTransaction: true })
  await ok(node, { insert: 'd', documents: [{ _id: 1 }], ...inTransaction })
  await ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 1 } } }], ...inTransaction })
  t.same(await stream.read(), [])
  await ok(node, { commitTransaction: 1, ...inTransaction, $db: 'admin' })
  const events = await stream.read()
  t.same(types(events), ['insert', 'insert', 'update'])
  t.match(events, [{ txnNumber: Long.fromNumber(1), lsid: { id: lsid.id } }, {}, {}])
  t.same(events[2]!['clusterTime'], events[0]!['clusterTime'])
  const hexes = events.map((event) => event['_id']._data as string)
  t.same(hexes, [...hexes].sort())
  t.match(hexes[2], /^82.{16}2B042C01002B06/, 'the number of the operation counts those on other collections')
  for (const [i, event] of events.entries())
    t.same((await Stream.open(node, 'c', { resumeAfter: event['_id'] })).first, events.slice(i + 1))
  const aborted = { lsid, txnNumber: Long.fromNumber(2), autocommit: false }
  await ok(node, { insert: 'c', documents: [{ _id: 3 }], ...aborted, startTransaction: true })
  await ok(node, { abortTransaction: 1, ...aborted, $db: 'admin' })
  t.same(await stream.read(), [])
})

t.test('pre- and post-images are those of the time of the event', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await ok(node, { create: 'c', changeStreamPreAndPostImages: { enabled: true } })
  const options = { fullDocument: 'whenAvailable', fullDocumentBeforeChange: 'whenAvailable' }
  const stream = await Stream.open(node, 'c', options)
  const required = await Stream.open(node, 'c', { fullDocument: 'required', fullDocumentBeforeChange: 'required' })
  const lsid = session(1)
  const inTransaction = { lsid, txnNumber: Long.fromNumber(1), autocommit: false }
  const set = (n: number) => ({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { n } } }] })
  await ok(node, { insert: 'c', documents: [{ _id: 1, n: 0 }] })
  await ok(node, set(1))
  await ok(node, { ...set(2), ...inTransaction, startTransaction: true })
  await ok(node, { ...set(3), ...inTransaction })
  await ok(node, { commitTransaction: 1, ...inTransaction, $db: 'admin' })
  await ok(node, { update: 'c', updates: [{ q: { _id: 1 }, u: { n: 4 } }] })
  await ok(node, { delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] })
  const events = await stream.read()
  t.same(
    events.map(({ fullDocumentBeforeChange: before, fullDocument: after }) => [before?.n ?? null, after?.n ?? null]),
    [
      [null, 0],
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, null],
    ],
  )
  t.same(await required.read(), events)
  const restarted = node.restarted()
  const start = { ...options, resumeAfter: events[0]!['_id'] }
  t.same((await Stream.open(restarted, 'c', start)).first, events.slice(1))
  await ok(node, { collMod: 'c', changeStreamPreAndPostImages: { enabled: false } })
  await ok(node, { insert: 'c', documents: [{ _id: 2, n: 0 }] })
  await ok(node, { delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }] })
  t.equal((await stream.read()).at(-1)!['fullDocumentBeforeChange'], null)
  const failing = { getMore: required.id, collection: 'c' }
  t.match(await run(node, failing), { code: 47, codeName: 'NoMatchingDocument' })
})
