import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { long, NodeUnderTest, shape } from './support/harness.js'

const batch = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch
const listed = async (node: NodeUnderTest, name: string): Promise<Document | undefined> =>
  batch(await node.ok({ listCollections: 1, filter: { name } }))[0]
const indexNames = async (node: NodeUnderTest, name = 'c') =>
  batch(await node.ok({ listIndexes: name })).map((spec) => spec['name'])

t.test('create checks its options', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const refused = async (options: Document, expected: Document) =>
    t.match(await node.run({ create: 'c', ...options }), { ok: 0, ...expected })
  await refused({ capped: true }, { code: 72, errmsg: "the 'size' field is required when 'capped' is true" })
  await refused(
    { size: 100 },
    { code: 72, errmsg: "the 'capped' field needs to be true when either the 'size' or 'max' fields are present" },
  )
  await refused(
    { capped: true, size: 0 },
    { code: 51024, errmsg: "BSON field 'size' value must be >= 1, actual value '0'" },
  )
  await refused({ capped: true, size: 1, max: 2 ** 31 }, { code: 51024 })
  await refused({ nope: 1 }, { code: 40415 })
  await refused({ autoIndexId: false }, { code: 50001 })
  await refused({ expireAfterSeconds: 1 }, { code: 72 })
  await refused({ collation: {} }, { code: 2 })
  await refused({ collation: { locale: 'xx-nope' } }, { ok: 0 })
  await refused(
    { storageEngine: { nope: {} } },
    { code: 72, errmsg: 'nope is not a registered storage engine for this server' },
  )
  await refused({ storageEngine: { wiredTiger: 1 } }, { code: 2 })
  await refused({ indexOptionDefaults: { x: 1 } }, { code: 40415 })
  await refused({ idIndex: { key: { a: 1 }, name: '_id_' } }, { code: 2 })
  await refused({ changeStreamPreAndPostImages: { enabled: 1 } }, { code: 14 })
  t.match(await node.run({ create: 'x'.repeat(251) }), {
    code: 73,
    errmsg: /^Fully qualified namespace is too long\. .* Max: 255$/,
  })
  t.match(
    await new NodeUnderTest({ version: '5.0' }).run({ create: 'c', changeStreamPreAndPostImages: { enabled: true } }),
    {
      code: 40415,
    },
  )
  t.equal(await listed(node, 'c'), undefined, 'nothing was created')
})

t.test('D400 time series and encrypted collections are refused', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  for (const [name, value] of Object.entries({
    timeseries: { timeField: 't' },
    encryptedFields: { fields: [] },
  })) {
    t.match(await node.run({ create: 'c', [name]: value }), {
      code: 72,
      errmsg: `'${name}' collections are not supported`,
    })
  }
  t.match(await node.run({ create: 'c', expireAfterSeconds: 1 }), { code: 72 })
  t.equal(await listed(node, 'c'), undefined)
})

t.test('options are stored as the server stores them', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({
    create: 'c',
    validationAction: 'warn',
    max: 5,
    capped: true,
    size: 1000,
    changeStreamPreAndPostImages: { enabled: true },
  })
  const { options } = (await listed(node, 'c')) as { options: Document }
  t.same(Object.entries(options), [
    ['capped', true],
    ['size', 1024],
    ['max', 5],
    ['changeStreamPreAndPostImages', { enabled: true }],
    ['validationAction', 'warn'],
  ])
  t.same(await node.ok({ create: 'c', capped: true, size: 1024, max: 5, validationAction: 'warn' }), { ok: 1 })
  t.match(await node.run({ create: 'c', capped: true, size: 4096 }), {
    code: 48,
    errmsg:
      /^namespace test\.c already exists, but with different options: \{ uuid: UUID\(".{36}"\), capped: true, size: 1024, max: 5, /,
  })
  await node.ok({ create: 'collated', collation: { locale: 'fr', strength: 1 } })
  const collated = (await listed(node, 'collated')) as { options: { collation: Document }; idIndex: Document }
  t.match(collated.options.collation, { locale: 'fr', strength: 1, caseLevel: false, version: '57.1' })
  t.same(collated.idIndex['collation'], collated.options.collation, 'the _id index has the same collation')
  await node.ok({
    createIndexes: 'collated',
    indexes: [
      { key: { a: 1 }, name: 'a_1' },
      { key: { a: 1 }, name: 'plain', collation: { locale: 'simple' } },
    ],
  })
  const specs = batch(await node.ok({ listIndexes: 'collated' }))
  t.same(
    specs.map((spec) => (spec['collation'] as Document | undefined)?.['locale']),
    ['fr', 'fr', undefined],
  )
  t.match(await new NodeUnderTest({ version: '7.0' }).ok({ create: 'c', autoIndexId: true }), {
    note: 'The autoIndexId option is deprecated and will be removed in a future release',
  })
})

t.test('a capped collection keeps its newest documents', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ create: 'c', capped: true, size: 4096, max: 3 })
  for (let _id = 1; _id <= 5; _id++) await node.ok({ insert: 'c', documents: [{ _id }] })
  t.same(
    (await node.all('c')).map((each) => each['_id']),
    [3, 4, 5],
  )
  await node.ok({ collMod: 'c', cappedMax: 2, cappedSize: 300 })
  t.same((await listed(node, 'c'))!['options'], { capped: true, size: 512, max: 2 })
  await node.ok({ insert: 'c', documents: [{ _id: 6 }] })
  t.same(
    (await node.all('c')).map((each) => each['_id']),
    [5, 6],
  )
})

t.test('convertToCapped and cloneCollectionAsCapped keep the newest documents', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: Array.from({ length: 20 }, (_, _id) => ({ _id, text: 'x'.repeat(40) })) })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { text: 1 }, name: 'text_1' }] })
  await node.ok({ cloneCollectionAsCapped: 'c', toCollection: 'd', size: 512 })
  t.match(await node.run({ cloneCollectionAsCapped: 'c', toCollection: 'd', size: 512 }), { code: 48 })
  await node.ok({ convertToCapped: 'c', size: 512 })
  for (const name of ['c', 'd']) {
    t.match((await listed(node, name))!['options'], { capped: true, size: 512 })
    const ids = (await node.all(name)).map((each) => each['_id'] as number)
    t.equal(ids.at(-1), 19)
    t.ok(ids.length > 3 && ids.length < 10, `${ids.length} documents fit`)
  }
  t.same(await indexNames(node), ['_id_'])
  t.match(await node.run({ convertToCapped: 'none', size: 1 }), { code: 26 })
  t.match(await node.run({ convertToCapped: 'c', size: 0 }), { code: 72 })
  t.same((await node.restarted().all('c')).length, (await node.all('c')).length)
})

t.test('dropIndexes drops by name, by key or all, and refuses the _id index', async (t) => {
  const node = new NodeUnderTest()
  const make = () =>
    node.ok({
      createIndexes: 'c',
      indexes: [
        { key: { a: 1 }, name: 'a_1' },
        { key: { b: 1 }, name: 'b_1' },
        { key: { b: 1 }, name: 'sparse', sparse: true },
        { key: { d: 1 }, name: 'd_1' },
      ],
    })
  await make()
  const refused = async (index: unknown, expected: Document) =>
    t.match(await node.run({ dropIndexes: 'c', index }), { ok: 0, ...expected })
  await refused('none', { code: 27, errmsg: 'index not found with name [none]' })
  await refused({ z: 1 }, { code: 27, errmsg: "can't find index with key: { z: 1 }" })
  await refused({ b: 1 }, { code: 181 })
  await refused('_id_', { code: 72, errmsg: 'cannot drop _id index' })
  await refused({ _id: 1 }, { code: 72 })
  await refused(['a_1', 'none'], { code: 27 })
  await refused(['a_1', 1], { code: 14 })
  await refused(1, { code: 14 })
  t.match(await node.run({ dropIndexes: 'none', index: '*' }), { code: 26, errmsg: 'ns not found test.none' })
  t.match(await node.run({ dropIndexes: 'c' }), { code: 40414 })
  t.same(await indexNames(node), ['_id_', 'a_1', 'b_1', 'sparse', 'd_1'], 'nothing was dropped')
  const raw = await node.raw({ dropIndexes: 'c', index: 'a_1' })
  t.equal(shape(raw), 'nIndexesWas:int ok:double')
  t.same(decode(raw), { nIndexesWas: 5, ok: 1 })
  t.same(await node.ok({ deleteIndexes: 'c', index: ['b_1', 'sparse'] }), { nIndexesWas: 4, ok: 1 })
  await node.ok({ dropIndexes: 'c', index: { d: 1 } })
  await make()
  t.same(await node.ok({ dropIndexes: 'c', index: '*' }), {
    nIndexesWas: 5,
    msg: 'non-_id indexes dropped for collection',
    ok: 1,
  })
  t.same(await indexNames(node.restarted()), ['_id_'])
})

t.test('collMod changes indexes', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
    ],
  })
  await node.ok({
    createIndexes: 'c',
    indexes: [
      { key: { a: 1 }, name: 'a_1' },
      { key: { at: 1 }, name: 'at_1', expireAfterSeconds: 10 },
    ],
  })
  const mod = (index: Document) => node.run({ collMod: 'c', index })
  const raw = await node.raw({ collMod: 'c', index: { name: 'at_1', expireAfterSeconds: 20 } })
  t.equal(shape(raw), 'expireAfterSeconds_old:long expireAfterSeconds_new:long ok:double')
  t.same(await mod({ keyPattern: { at: 1 }, expireAfterSeconds: 30 }), {
    expireAfterSeconds_old: long(20),
    expireAfterSeconds_new: long(30),
    ok: 1,
  })
  t.same(await mod({ name: 'a_1', hidden: true }), { hidden_old: false, hidden_new: true, ok: 1 })
  t.same(await mod({ name: 'a_1', hidden: true }), { ok: 1 }, 'nothing changes')
  t.equal(batch(await node.ok({ listIndexes: 'c' }))[1]!['hidden'], true)
  t.same(await mod({ name: 'a_1', hidden: false }), { hidden_old: true, hidden_new: false, ok: 1 })
  t.notOk('hidden' in batch(await node.ok({ listIndexes: 'c' }))[1]!)
  t.match(await mod({ name: '_id_', hidden: true }), { code: 2, errmsg: "can't hide _id index" })
  t.match(await mod({ name: 'none', hidden: true }), { code: 27, errmsg: 'cannot find index none for ns test.c' })
  t.match(await mod({ hidden: true }), { code: 72, errmsg: 'Must specify either index name or key pattern.' })
  t.match(await mod({ name: null, hidden: true }), { code: 72 }, 'null means absent')
  t.match(await mod({ name: 'a_1' }), {
    code: 72,
    errmsg: 'no expireAfterSeconds, hidden, unique, or prepareUnique field',
  })
  t.match(await mod({ name: 'a_1', nope: 1 }), { code: 40415 })
  t.match(await mod({ name: 'a_1', unique: true }), { code: 72, errmsg: /prepareUnique=false/ })
  t.match(await mod({ name: 'a_1', prepareUnique: true, hidden: true }), { code: 72 })
  t.same(await mod({ name: 'a_1', prepareUnique: true }), { prepareUnique_old: false, prepareUnique_new: true, ok: 1 })
  t.match(
    await node.run({ insert: 'c', documents: [{ _id: 3, a: 1 }] }),
    { writeErrors: [{ code: 11000 }] },
    'no new duplicates',
  )
  t.match(await mod({ name: 'a_1', unique: true }), { code: 359, violations: [{ ids: [1, 2] }] })
  await node.ok({ delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }] })
  t.same(await mod({ name: 'a_1', unique: true }), { unique_new: true, ok: 1 })
  const specs = batch(await node.ok({ listIndexes: 'c' }))
  t.match(
    specs.find((spec) => spec['name'] === 'a_1'),
    { unique: true },
  )
  t.notOk('prepareUnique' in specs.find((spec) => spec['name'] === 'a_1')!)
  t.match(await node.run({ collMod: 'none', index: { name: 'a', hidden: true } }), {
    code: 26,
    errmsg: 'ns does not exist',
  })
  t.match(await node.run({ collMod: 'c', cappedSize: 1 }), { code: 72 })
  const old = new NodeUnderTest({ version: '4.4' })
  await old.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  t.match(await old.run({ collMod: 'c', index: { name: 'a_1', expireAfterSeconds: 1 } }), {
    code: 72,
    errmsg: 'no expireAfterSeconds field to update',
  })
  t.match(await old.run({ collMod: 'c', index: { name: 'a_1', unique: true } }), {
    code: 72,
    errmsg: 'no expireAfterSeconds or hidden field',
  })
})

t.test('renameCollection keeps documents and indexes, and refuses invalid names', async (t) => {
  const node = new NodeUnderTest()
  const rename = (from: string, to: string, more: Document = {}) =>
    node.run({ renameCollection: from, to, ...more }, { db: 'admin' })
  await node.ok({ insert: 'a', documents: [{ _id: 1 }] })
  await node.ok({ createIndexes: 'a', indexes: [{ key: { x: 1 }, name: 'x_1' }] })
  await node.ok({ insert: 'b', documents: [{ _id: 2 }] })
  t.match(await node.run({ renameCollection: 'test.a', to: 'test.z' }), { code: 13 })
  t.match(await rename('test.none', 'test.z'), { code: 26, errmsg: 'Source collection test.none does not exist' })
  t.match(await rename('test.a', 'test.b'), { code: 48, errmsg: 'target namespace exists' })
  t.match(await rename('test.a', 'test.a'), { code: 20, errmsg: "Can't rename a collection to itself" })
  t.match(await rename('test.a', 'test'), { code: 73, errmsg: 'Invalid target namespace: test' })
  t.match(await rename('test', 'test.b'), { code: 73 })
  t.match(await rename('test.a', 'test.system.nope'), {
    code: 20,
    errmsg: 'error with target namespace: Invalid system namespace: test.system.nope',
  })
  t.match(await rename('test.a', 'test.b', { dropTarget: 'x' }), { code: 14 })
  const { uuid } = (await listed(node, 'a'))!['info'] as Document
  t.same(await rename('test.a', 'test.b', { dropTarget: true }), { ok: 1 })
  t.equal(await listed(node, 'a'), undefined)
  t.same(((await listed(node, 'b'))!['info'] as Document)['uuid'], uuid)
  t.same(await node.all('b'), [{ _id: 1 }])
  t.same(await rename('test.b', 'other.c'), { ok: 1 })
  const again = node.restarted()
  t.same(await again.all('c', 'other'), [{ _id: 1 }])
  t.same(
    batch(await again.ok({ listIndexes: 'c' }, { db: 'other' })).map((spec) => spec['name']),
    ['_id_', 'x_1'],
  )
  t.same(await again.all('b'), [])
})
