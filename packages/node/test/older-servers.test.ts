import { decode, Double, encode, Long, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

async function filled(version: EmulatedVersion): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] })
  return node
}

const variables = { let: { x: 1 } }

t.test('let before 5.0 is refused with the text of each command', async (t) => {
  const node = new NodeUnderTest({ version: '4.4' })
  const refused = async (command: Document, expected: Document) => {
    const body = encode({ ...command, ...variables, $db: 'test' })
    const reply = await node.node.clientCommand({ connectionId: 1, body, sequences: [], legacy: false, remote: '' })
    t.match(decode(reply.body), { ok: 0, ...expected })
  }
  await refused({ aggregate: 'c', pipeline: [], cursor: {} }, { code: 9, errmsg: "unrecognized field 'let'" })
  await refused(
    { find: 'c' },
    { code: 9, errmsg: 'Failed to parse: { find: "c", let: { x: 1 }, $db: "test" }. Unrecognized field \'let\'.' },
  )
  await refused({ findAndModify: 'c', remove: true }, { code: 40415, errmsg: "BSON field 'let' is an unknown field." })
  await refused(
    { delete: 'c', deletes: [{ q: {}, limit: 0 }] },
    { code: 40415, errmsg: "BSON field 'delete.let' is an unknown field." },
  )
  const later = new NodeUnderTest({ version: '5.0' })
  await later.ok({ find: 'c', ...variables })
})

t.test('until 4.0 collStats of a missing collection fails without a code', async (t) => {
  const node = new NodeUnderTest({ version: '4.0' })
  const missing = async () => {
    const { code, errmsg } = await node.run({ collStats: 'missing' })
    return [code, errmsg]
  }
  t.same(await missing(), [undefined, 'Database [test] not found.'])
  await node.ok({ create: 'c' })
  t.same(await missing(), [undefined, 'Collection [test.missing] not found.'])
  t.match(await node.ok({ collStats: 'c' }), { count: 0 })
  t.match(await new NodeUnderTest({ version: '4.4' }).ok({ collStats: 'missing' }), { count: 0 })
})

t.test('a getMore of 4.4 requires a positive batchSize', async (t) => {
  for (const version of ['4.4', '5.0'] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] })
    const { id } = (await node.ok({ find: 'c', batchSize: 1 }))['cursor'] as { id: Long }
    const more = await node.run({ getMore: id, collection: 'c', batchSize: 0 })
    if (version === '4.4')
      t.match(more, { code: 2, errmsg: 'Batch size for getMore must be positive, but received: 0' })
    else t.match(more, { ok: 1, cursor: { nextBatch: [{ _id: 2 }, { _id: 3 }] } })
  }
})

t.test('returnKey excludes showRecordId', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1, a: 2 }] })
  const { firstBatch } = (
    await node.ok({ find: 'c', filter: { _id: 1 }, sort: { _id: 1 }, returnKey: true, showRecordId: true })
  )['cursor'] as { firstBatch: Document[] }
  t.same(firstBatch, [{ _id: 1 }])
})

t.test('index specifications have the version and the namespace that the server gives them', async (t) => {
  const listed = async (version: '2.6' | '4.0' | '4.4') => {
    const node = new NodeUnderTest({ version })
    await node.ok({ create: 'plain' })
    await node.ok({ create: 'old', idIndex: { v: 1, key: { _id: 1 }, name: '_id_' } })
    await node.ok({ createIndexes: 'old', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
    const indexesOf = async (again: NodeUnderTest, listIndexes: string) =>
      ((await again.ok({ listIndexes }))['cursor'] as Document)['firstBatch'] as Document[]
    const restarted = node.restarted()
    const old = await indexesOf(restarted, 'old')
    t.same(await indexesOf(node, 'old'), old, 'also after a restart')
    const { cursor } = await restarted.ok({ listCollections: 1, filter: { name: 'old' } })
    const [entry] = (cursor as Document)['firstBatch'] as Document[]
    t.same(entry!['idIndex'], old[0])
    t.same(entry!['options'], {})
    return [...(await indexesOf(restarted, 'plain')), ...old]
  }
  const specs = (versions: readonly number[], ns: (collection: string) => Document) => [
    { v: versions[0], key: { _id: 1 }, name: '_id_', ...ns('plain') },
    { v: versions[1], key: { _id: 1 }, name: '_id_', ...ns('old') },
    { v: versions[2], key: { a: 1 }, name: 'a_1', ...ns('old') },
  ]
  const named = (collection: string) => ({ ns: `test.${collection}` })
  t.same(await listed('2.6'), specs([1, 1, 1], named))
  t.same(await listed('4.0'), specs([2, 1, 2], named))
  t.same(
    await listed('4.4'),
    specs([2, 1, 2], () => ({})),
  )
})

t.test('count of old servers has its own error for a negative skip, and truncates', async (t) => {
  const error = { errmsg: 'skip value is negative in count query' }
  const old = await filled('2.6')
  const reply = await old.run({ count: 'c', skip: -1 })
  t.match(reply, { ok: 0, ...error })
  t.notOk('code' in reply)
  const notNumber = await old.run({ count: 'c', skip: 'x' })
  t.match(notNumber, { ok: 0, errmsg: 'skip value is not a valid number' })
  t.notOk('code' in notNumber)
  t.match(await old.ok({ count: 'c', limit: 'x' }), { n: 3 }, 'a limit of another type is ignored')
  const node = await filled('4.0')
  t.match(await node.run({ count: 'c', limit: 'x' }), { code: 2, errmsg: 'limit value is not a valid number' })
  t.match(await node.run({ count: 'c', skip: 'x' }), { code: 2, errmsg: 'skip value is not a valid number' })
  t.match(await node.run({ count: 'c', skip: -1 }), { code: 2, ...error })
  t.match(await node.ok({ count: 'c', limit: 1.9, skip: 0.9 }), { n: 1 })
  t.match(await node.ok({ explain: { count: 'c', limit: 1.5 } }), { ok: 1 })
  t.match(await (await filled('4.4')).run({ count: 'c', skip: -1 }), {
    code: 9,
    errmsg: 'Expected a non-negative number in: skip: -1',
  })
  for (const [bounds, errmsg] of [
    [{ skip: new Double(-1) }, 'Expected a non-negative number in: skip: -1.0'],
    [{ limit: NaN }, 'Expected an integer, but found NaN in: limit: nan.0'],
    [{ limit: 1.5 }, 'Expected an integer: limit: 1.5'],
  ] as const)
    t.match(await (await filled('8.0')).run({ count: 'c', ...bounds }), { code: 9, errmsg })
})

t.test('reIndex lists indexes as listIndexes does', async (t) => {
  t.match(await (await filled('4.0')).ok({ reIndex: 'c' }), { indexes: [{ v: 2, name: '_id_', ns: 'test.c' }] })
  const { indexes } = (await (await filled('4.4')).ok({ reIndex: 'c' })) as { indexes: Document[] }
  t.notOk('ns' in indexes[0]!)
})

t.test('an empty $project of 2.6 has its own error', async (t) => {
  t.match(await (await filled('2.6')).run({ aggregate: 'c', pipeline: [{ $project: {} }] }), {
    code: 16403,
    errmsg: '$projection requires at least one output field',
  })
})

t.test('errors of getMore name the executor since 4.4', async (t) => {
  for (const [version, errmsg] of [
    ['4.0', /^Failed to parse number 'x'/],
    ['4.4', /^Executor error during getMore :: caused by :: Failed to parse number 'x'/],
  ] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({
      insert: 'c',
      documents: [
        { _id: 1, n: '1' },
        { _id: 2, n: '2' },
        { _id: 3, n: 'x' },
      ],
    })
    const pipeline = [{ $project: { n: { $toInt: '$n' } } }]
    const { cursor } = (await node.ok({ aggregate: 'c', pipeline, cursor: { batchSize: 1 } })) as { cursor: Document }
    t.match(await node.run({ getMore: cursor['id'], collection: 'c' }), { code: 241, errmsg })
  }
})
