import { type Document, type Long } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest, shape } from './support/harness.js'

const batchOf = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

async function filled(documents: Document[], options: { version?: '4.4' | '8.0' } = {}): Promise<NodeUnderTest> {
  const node = new NodeUnderTest(options)
  await node.ok({ insert: 'c', documents })
  return node
}

t.test('invalid arguments are refused as on the server', async (t) => {
  const node = await filled([{ _id: 1, a: 1 }])
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  const cases: [Document, number, string][] = [
    [{ skip: -1 }, 51024, 'a negative skip'],
    [{ limit: -1 }, 51024, 'a negative limit'],
    [{ batchSize: -1 }, 51024, 'a negative batch size'],
    [{ hint: 1 }, 9, 'a hint that is neither name nor pattern'],
    [{ hint: 'nope' }, 2, 'no such index'],
    [{ hint: { $natural: 2 } }, 2, '$natural is 1 or -1'],
    [{ sort: { $natural: 'x' } }, 2, 'in a sort, too'],
    [{ sort: { $natural: 1, a: 1 } }, 2, '$natural stands alone'],
    [{ sort: { $natural: 1 }, hint: 'a_1' }, 2, 'a natural sort is a hint'],
    [{ sort: { $natural: 1 }, hint: { $natural: -1 } }, 2, 'both in one direction'],
    [{ min: { a: 1 }, max: { b: 1 }, hint: 'a_1' }, 51176, 'min and max of different fields'],
    [{ awaitData: true }, 9, 'awaitData without tailable'],
    [{ tailable: true, sort: { a: 1 } }, 2, 'a sorted tail'],
    [{ tailable: true, singleBatch: true }, 2, 'a tail of one batch'],
    [{ tailable: true }, 2, 'the tail of a collection that is not capped'],
    [{ collation: { locale: 'nowhere' } }, 2, 'no such locale'],
    [{ nonsense: 1 }, 40415, 'an unknown argument'],
  ]
  for (const [command, code, why] of cases) t.match(await node.run({ find: 'c', ...command }), { ok: 0, code }, why)
})

t.test('D109 a direction of natural order other than 1 and -1 is refused in every version', async (t) => {
  for (const version of ['2.6', '5.0', '8.0'] as const)
    for (const options of [{ hint: { $natural: 5 } }, { sort: { $natural: 5 } }])
      t.match(
        await new NodeUnderTest({ version }).run({ find: 'c', ...options }),
        { ok: 0, code: version === '2.6' ? 17287 : 2 },
        version,
      )
})

t.test('sort or hint select natural order in both directions', async (t) => {
  const node = await filled([{ _id: 3 }, { _id: 1 }, { _id: 2 }])
  const ids = async (command: Document) =>
    batchOf(await node.ok({ find: 'c', ...command })).map((document) => document['_id'])
  t.same(await ids({ sort: { $natural: -1 } }), [2, 1, 3])
  t.same(await ids({ hint: { $natural: -1 } }), [2, 1, 3])
  t.same(await ids({ hint: { $natural: -1 }, sort: { _id: 1 } }), [1, 2, 3], 'a sort goes on top')
})

t.test('let and collation apply to filter, sort and projection', async (t) => {
  const node = await filled([
    { _id: 1, name: 'apple' },
    { _id: 2, name: 'Banana' },
    { _id: 3, name: 'APPLE' },
  ])
  const found = async (command: Document) => batchOf(await node.ok({ find: 'c', ...command }))
  const names = (documents: Document[]) => documents.map((document) => document['_id'])
  t.same(names(await found({ filter: { name: 'apple' } })), [1])
  t.same(names(await found({ filter: { name: 'apple' }, collation: { locale: 'en', strength: 2 } })), [1, 3])
  t.same(names(await found({ sort: { name: 1, _id: 1 } })), [3, 2, 1], 'by bytes')
  t.same(names(await found({ sort: { name: 1, _id: 1 }, collation: { locale: 'en', strength: 2 } })), [1, 3, 2])
  t.same(names(await found({ filter: { $expr: { $eq: ['$_id', '$$wanted'] } }, let: { wanted: 2 } })), [2])
  t.same(await found({ filter: { _id: 1 }, projection: { _id: 0, sum: { $add: ['$_id', '$$n'] } }, let: { n: 5 } }), [
    { sum: 6 },
  ])
  await node.ok({ create: 'loose', collation: { locale: 'en', strength: 1 } })
  await node.ok({ insert: 'loose', documents: [{ _id: 1, name: 'ÀPPLE' }] })
  t.equal(
    batchOf(await node.ok({ find: 'loose', filter: { name: 'apple' } })).length,
    1,
    "the collection's own collation",
  )
  t.equal(
    batchOf(await node.ok({ find: 'loose', filter: { name: 'apple' }, collation: { locale: 'simple' } })).length,
    0,
  )
})

t.test('showRecordId, $recordId and sort keys follow the document', async (t) => {
  const node = await filled([
    { _id: 'x', a: 2 },
    { _id: 'y', a: [3, 1] },
  ])
  const raw = await node.raw({ find: 'c', showRecordId: true })
  t.equal(shape(raw, 'cursor.firstBatch.0'), '_id:string a:int $recordId:long')
  t.same(
    batchOf(await node.ok({ find: 'c', projection: { _id: 1, rid: { $meta: 'recordId' } } })).map((each) =>
      each['rid'].toNumber(),
    ),
    [1, 2],
  )
  t.same(batchOf(await node.ok({ find: 'c', sort: { a: 1 }, projection: { _id: 1, key: { $meta: 'sortKey' } } })), [
    { _id: 'y', key: [1] },
    { _id: 'x', key: [2] },
  ])
  t.same(
    batchOf(await node.ok({ find: 'c', sort: { a: -1 }, projection: { _id: 1, $sortKey: { $meta: 'sortKey' } } })),
    [
      { _id: 'y', $sortKey: [3] },
      { _id: 'x', $sortKey: [2] },
    ],
    'as routers ask for it',
  )
})

t.test('min and max bound an index, returnKey returns its keys', async (t) => {
  const node = await filled([1, 2, 3, 4].map((a) => ({ _id: a, a, b: -a })))
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  const found = async (command: Document) => batchOf(await node.ok({ find: 'c', ...command }))
  t.same(
    (await found({ min: { a: 2 }, max: { a: 4 }, hint: 'a_1' })).map((each) => each['a']),
    [2, 3],
    'the upper end is not in it',
  )
  t.same(
    (await found({ max: { a: 3 }, hint: { a: 1 } })).map((each) => each['a']),
    [1, 2],
  )
  t.match(await node.run({ find: 'c', min: { a: 2 } }), { ok: 0 }, 'an index must be hinted')
  t.match(await node.run({ find: 'c', min: { b: 2 }, hint: 'a_1' }), { ok: 0, code: 51174 }, 'of that pattern')
  t.same(await found({ filter: { a: { $gte: 3 } }, returnKey: true }), [{ a: 3 }, { a: 4 }])
  t.same(await found({ filter: { b: -1 }, returnKey: true }), [{}], 'a collection scan has no key')
})

t.test('the positional projection shows the element that matched', async (t) => {
  const node = await filled([{ _id: 1, items: [{ n: 1 }, { n: 2 }, { n: 3 }] }])
  t.same(batchOf(await node.ok({ find: 'c', filter: { 'items.n': 2 }, projection: { 'items.$': 1 } })), [
    { _id: 1, items: [{ n: 2 }] },
  ])
})

t.test('errors while documents are read have the prefix of the server', async (t) => {
  for (const [version, where] of [
    ['4.4', 'Executor error during find command :: caused by :: '],
    ['8.0', 'Executor error during find command: test.c :: caused by :: '],
  ] as const) {
    const node = await filled([{ _id: 1, a: 'x' }], { version })
    const reply = await node.run({ find: 'c', filter: { $expr: { $gt: [{ $add: ['$a', 1] }, 0] } } })
    t.equal(reply['ok'], 0)
    t.ok((reply['errmsg'] as string).startsWith(where), reply['errmsg'] as string)
  }
})

t.test('singleBatch and limit 1 keep no cursor open', async (t) => {
  const node = await filled([{ _id: 1 }, { _id: 2 }])
  const idOf = (reply: Document) => (reply['cursor'] as { id: Long }).id.toNumber()
  t.equal(idOf(await node.ok({ find: 'c', batchSize: 1, singleBatch: true })), 0)
  t.equal(idOf(await node.ok({ find: 'c', limit: 1, batchSize: 1 })), 0)
  t.not(idOf(await node.ok({ find: 'c', limit: 1, batchSize: 0 })), 0, 'an empty batch opens a cursor')
  t.not(idOf(await node.ok({ find: 'c', batchSize: 1, noCursorTimeout: true })), 0)
  t.equal(idOf(await node.ok({ find: 'missing', batchSize: 0 })), 0, 'there is no position to resume from')
})

for (const version of ['4.4', '8.0'] as const) {
  t.test(`${version}: a find by _id alone returns the result and the cost of its plan`, async (t) => {
    const ids = [1, 1.5, 'B', true, new Date(5)]
    const node = await filled(
      ids.map((_id, i) => ({ _id, i })),
      { version },
    )
    const costs = async () => {
      const { metrics, opcounters } = await node.ok({ serverStatus: 1 }, { db: 'admin' })
      const { queryExecutor, document, commands } = metrics as Document
      const [indexStats] = batchOf(await node.ok({ aggregate: 'c', pipeline: [{ $indexStats: {} }], cursor: {} }))
      const { scanned, scannedObjects } = queryExecutor as Document
      const counts = [(document as Document)['returned'], scanned, scannedObjects, (opcounters as Document)['query']]
      return [
        ...counts,
        ((commands as Document)['find'] as Document)['total'],
        (indexStats!['accesses'] as Document)['ops'],
      ].map(Number)
    }
    const answered = async (command: Document) => {
      const before = await costs()
      const { cursor } = await node.ok(command)
      const { id, ...rest } = cursor as { id: Long }
      // `costs()` itself adds to the returned documents.
      return { rest, stays: id.toString() !== '0', costs: (await costs()).map((cost, i) => cost - before[i]!) }
    }
    for (const _id of [...ids, 'b']) {
      for (const rest of [
        {},
        { batchSize: 0 },
        { batchSize: 1 },
        { limit: 1, singleBatch: true },
        { maxTimeMS: 1000, comment: 'x' },
      ]) {
        // The second find has an operator, so the parser handles it.
        const byId = await answered({ find: 'c', filter: { _id }, ...rest })
        t.same(byId, await answered({ find: 'c', filter: { _id: { $eq: _id } }, ...rest }), JSON.stringify([_id, rest]))
      }
    }
    const first = async (rest: Document) => batchOf(await node.ok({ find: 'c', filter: { _id: 1 }, ...rest }))
    t.same(await first({}), [{ _id: 1, i: 0 }])
    t.same(await first({ projection: { i: 1, _id: 0 } }), [{ i: 0 }])
    t.same(await first({ skip: 1 }), [])
    t.same(await first({ hint: '_id_', returnKey: true }), [{ _id: 1 }])
    t.same(await first({ min: { _id: 2 }, hint: { _id: 1 } }), [])
    t.equal(Number((await first({ showRecordId: true }))[0]!['$recordId']), 1)
    t.match(await node.run({ find: 'c', filter: { _id: 1 }, hint: 'none' }), { ok: 0, code: 2 })
    t.match(await node.run({ find: 'c', filter: { _id: 1 }, tailable: true }), { ok: 0, code: 2 })
    const caseless = { locale: 'en', strength: 2 }
    t.same(batchOf(await node.ok({ find: 'c', filter: { _id: 'b' }, collation: caseless })), [{ _id: 'B', i: 2 }])
  })
}

t.test('a find by _id follows changes of its collection and of the member', async (t) => {
  const node = await filled([{ _id: 'a', n: 1 }])
  const command = { find: 'c', filter: { _id: 'a' } }
  const found = async () => batchOf(await node.ok(command)).map(({ n }) => Number(n))
  t.same(await found(), [1])
  t.same(await found(), [1])
  await node.ok({ update: 'c', updates: [{ q: { _id: 'a' }, u: { $set: { n: 2 } } }] })
  t.same(await found(), [2])
  await node.ok({ drop: 'c' })
  t.same(await found(), [])
  await node.ok({ create: 'c', collation: { locale: 'en', strength: 2 } })
  await node.ok({ insert: 'c', documents: [{ _id: 'A', n: 3 }] })
  t.same(await found(), [3], 'its _id index has another collation')
  await node.ok({ drop: 'c' })
  await node.ok({ create: 'c', viewOn: 'other', pipeline: [{ $set: { n: 4 } }] })
  await node.ok({ insert: 'other', documents: [{ _id: 'a' }] })
  t.match(await node.run(command), { ok: 0, code: 169 }, 'a view')
  await node.ok({ drop: 'c' })
  await node.ok({ create: 'c', clusteredIndex: { key: { _id: 1 }, unique: true } })
  await node.ok({ insert: 'c', documents: [{ _id: 'a', n: 5 }] })
  t.same(await found(), [5])
  const failCommand = (mode: unknown) => ({
    configureFailPoint: 'failCommand',
    mode,
    data: { failCommands: ['find'], errorCode: 8, failInternalCommands: true },
  })
  await node.ok(failCommand('alwaysOn'), { db: 'admin' })
  t.match(await node.run(command), { ok: 0, code: 8 })
  await node.ok(failCommand('off'), { db: 'admin' })
  t.same(await found(), [5])
})
