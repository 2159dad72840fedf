/** Manual: core/cursors; server: jstests getmore_invalidated_cursors.js. */
import type { Document, Long } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { PlanSource } from '../src/read/read-source.js'
import { NodeUnderTest } from './support/harness.js'

const following = ['4.4', '7.0', '8.0'] as const
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

async function filled(version: EmulatedVersion, count = 40): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'c', documents: Array.from({ length: count }, (_, i) => ({ _id: i, x: i })) })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { x: 1 }, name: 'x_1' }] })
  return node
}

const idOf = (reply: Document): Long => (reply['cursor'] as { id: Long }).id

async function readOn(
  node: NodeUnderTest,
  open: Document,
  meanwhile: (node: NodeUnderTest) => Promise<unknown>,
): Promise<Document> {
  const id = idOf(await node.ok(open))
  await meanwhile(node)
  return node.run({ getMore: id, collection: 'c' })
}

const find = { find: 'c', batchSize: 2 }
const sorted = { find: 'c', sort: { y: 1 }, batchSize: 2 }
const scan = { find: 'c', hint: 'x_1', batchSize: 2 }
const pipeline = { aggregate: 'c', pipeline: [{ $match: { x: { $gte: 0 } } }], cursor: { batchSize: 2 } }
const grouped = { aggregate: 'c', pipeline: [{ $group: { _id: '$x' } }], cursor: { batchSize: 2 } }
const redact = [{ $redact: '$$KEEP' }]
const redacted = { aggregate: 'c', pipeline: redact, cursor: { batchSize: 2 } }

const drop = (node: NodeUnderTest) => node.ok({ drop: 'c' })
const rename = (node: NodeUnderTest) => node.ok({ renameCollection: 'test.c', to: 'test.d' }, { db: 'admin' })
const dropIndex = (node: NodeUnderTest) => node.ok({ dropIndexes: 'c', index: 'x_1' })
const replace = async (node: NodeUnderTest) => {
  await drop(node)
  await node.ok({ create: 'c' })
}

for (const version of following) {
  t.test(`${version}: a cursor ends with its collection and with an index that it scans`, async (t) => {
    for (const open of [find, sorted, scan, pipeline]) {
      const dropped = {
        code: 175,
        codeName: 'QueryPlanKilled',
        errmsg: new RegExp(`^collection dropped\\. UUID ${uuid}$`),
      }
      const about = JSON.stringify(open)
      t.match(await readOn(await filled(version), open, drop), dropped, about)
      t.match(
        await readOn(await filled(version), open, replace),
        dropped,
        `${about}: another collection of the same name`,
      )
      t.match(await readOn(await filled(version), open, (node) => node.ok({ dropDatabase: 1 })), dropped, about)
      t.match(await readOn(await filled(version), open, rename), {
        code: 175,
        errmsg: new RegExp(`^collection renamed from 'test\\.c' to 'test\\.d'\\. UUID ${uuid}$`),
      })
    }
    const gone = { code: 175, errmsg: "query plan killed :: index 'x_1' dropped" }
    t.match(await readOn(await filled(version), scan, dropIndex), gone)
    t.match(await readOn(await filled(version), pipeline, dropIndex), gone)
    const rebuilt = async (node: NodeUnderTest) => {
      await dropIndex(node)
      await node.ok({ createIndexes: 'c', indexes: [{ key: { x: 1 }, name: 'x_1' }] })
    }
    t.match(await readOn(await filled(version), scan, rebuilt), gone, 'one of the same name is a different collection')
    t.match(await readOn(await filled(version), find, dropIndex), { ok: 1 }, 'a scan of the collection needs no index')
  })
}

t.test('the error closes the cursor', async (t) => {
  const node = await filled('7.0')
  const id = idOf(await node.ok(find))
  await drop(node)
  t.match(await node.run({ getMore: id, collection: 'c' }), { code: 175 })
  t.match(await node.run({ getMore: id, collection: 'c' }), { code: 43 })
  t.equal(node.node.cursors.size, 0)
})

t.test('a cursor continues when its collection gets its name back', async (t) => {
  const back = async (node: NodeUnderTest) => {
    await rename(node)
    await node.ok({ renameCollection: 'test.d', to: 'test.c' }, { db: 'admin' })
  }
  t.match(await readOn(await filled('7.0'), find, back), { ok: 1 })
  t.match(await readOn(await filled('4.0'), find, back), { code: 43 }, 'but until 4.0 a rename invalidates')
})

t.test('D609: stages continue with documents that were read ahead', async (t) => {
  for (const version of ['2.6', '4.0', '7.0', '8.0'] as const)
    t.match(await readOn(await filled(version), grouped, drop), { ok: 1 }, `${version}: all of it was read`)
  for (const version of ['2.6', '4.0', '7.0'] as const)
    t.match(await readOn(await filled(version), redacted, drop), { ok: 1 }, `${version}: 4 MB were read`)
  const killed = {
    code: 175,
    errmsg: new RegExp(`^Executor error during getMore :: caused by :: collection dropped\\. UUID ${uuid}$`),
  }
  t.match(await readOn(await filled('8.0'), redacted, drop), killed, 'the first batch has 32 documents')
  t.match(await readOn(await filled('8.0', 20), redacted, drop), { ok: 1 })
  const limited = { ...redacted, pipeline: [{ $limit: 40 }, ...redacted.pipeline] }
  t.match(await readOn(await filled('8.0'), limited, drop), { ok: 1 }, 'a limit lifts that')
  const large = async (version: EmulatedVersion) => {
    const node = await filled(version)
    for (let i = 0; i < 6; i++)
      await node.ok({ insert: 'c', documents: [{ _id: `l${i}`, x: 100 + i, pad: 'x'.repeat(1024 * 1024) }] })
    return node
  }
  t.match(await readOn(await large('7.0'), redacted, drop), killed)
  t.match(await readOn(await large('4.0'), redacted, drop), {
    code: 175,
    errmsg: /^renamed collection 'test\.c' to 'test\.system\.drop\.\d+i\d+t1\.c'$/,
  })
  t.match(await readOn(await large('4.0'), redacted, rename), {
    code: 175,
    errmsg: /renamed collection 'test\.c' to 'test\.d'$/,
  })
  t.match(await readOn(await large('2.6'), redacted, drop), { code: 16950 })
})

t.test('until 4.0 getMore looks up its collection first, and an index drop invalidates every cursor', async (t) => {
  for (const [version, code] of [
    ['2.6', 17356],
    ['4.0', 96],
  ] as const) {
    const node = await filled(version)
    const between = { code, errmsg: 'collection dropped between getMore calls' }
    t.match(await readOn(node, find, drop), between)
    t.match(await readOn(await filled(version), find, rename), between)
    t.match(await readOn(await filled(version), find, replace), { code: 43 })
    t.match(await readOn(await filled(version), pipeline, drop), { ok: 1 }, 'a pipeline reads ahead')
  }
  t.match(await readOn(await filled('4.0'), find, dropIndex), { code: 175, errmsg: "index 'x_1' dropped" })
  t.match(await readOn(await filled('2.6'), find, dropIndex), { code: 43 })
})

t.test('a getMore that waits on a capped collection fails when it is dropped', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ create: 'c', capped: true, size: 10_000 })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const id = idOf(await node.ok({ find: 'c', tailable: true, awaitData: true }))
  node.context.holdSleeps = true
  const waiting = node.run({ getMore: id, collection: 'c' })
  await drop(node)
  t.match(await waiting, {
    code: 175,
    errmsg: /^Executor error during getMore :: caused by :: collection dropped\. UUID/,
  })
})

t.test('cursors of a dropped collection hold no snapshot until their getMore reports the drop', async (t) => {
  const node = await filled('7.0')
  await node.ok({ insert: 'other', documents: [{ x: 1 }, { x: 2 }, { x: 3 }] })
  const ids: Long[] = []
  for (const open of [find, sorted, scan, find]) ids.push(idOf(await node.ok(open)))
  const other = idOf(await node.ok({ find: 'other', batchSize: 1 }))
  const holding = () => [...node.node.cursors].filter(({ source }) => source instanceof PlanSource).length
  t.equal(holding(), 5)
  await drop(node)
  t.equal(holding(), 1, 'that of the other collection')
  t.equal(node.node.cursors.size, 5, 'they still count as open')
  for (const id of ids) t.equal((await node.run({ getMore: id, collection: 'c' }))['code'], 175)
  t.equal(node.node.cursors.size, 1)
  await node.ok({ renameCollection: 'test.other', to: 'test.third', dropTarget: true }, { db: 'admin' })
  t.equal(holding(), 1, 'a renamed collection still exists')
  await node.ok({ renameCollection: 'test.third', to: 'test.other' }, { db: 'admin' })
  t.match(await node.run({ getMore: other, collection: 'other' }), { cursor: { nextBatch: [{ x: 2 }, { x: 3 }] } })
})

t.test('D610: a cursor with a past snapshot ends with the drop of its collection', async (t) => {
  const node = await filled('6.0')
  const id = idOf(await node.ok({ ...find, readConcern: { level: 'snapshot' } }))
  await drop(node)
  t.match(await node.run({ getMore: id, collection: 'c' }), { code: 175, errmsg: /collection dropped\. UUID/ })
})

t.test('D610: of the cursors of dropped collections, 1,000 stay open', async (t) => {
  const node = new NodeUnderTest()
  const documents = [{ x: 1 }, { x: 2 }, { x: 3 }]
  const opened = async (collection: string, count: number): Promise<Long[]> => {
    await node.ok({ insert: collection, documents })
    const ids: Long[] = []
    for (let i = 0; i < count; i++) ids.push(idOf(await node.ok({ find: collection, batchSize: 1 })))
    return ids
  }
  const [oldest] = await opened('a', 1)
  const [live] = await opened('live', 1)
  await node.ok({ drop: 'a' })
  const later = await opened('b', 999)
  await node.ok({ drop: 'b' })
  t.equal(node.node.cursors.size, 1001)
  t.strictSame(limitsOf(node), [])
  const [newest] = await opened('c', 1)
  await node.ok({ drop: 'c' })
  t.equal(node.node.cursors.size, 1001, 'the limit is for cursors of dropped collections only')
  t.match(limitsOf(node), [{ limit: 'droppedCursorsMax', value: 1000 }])
  t.match(await node.run({ getMore: oldest, collection: 'a' }), { code: 43 }, 'dropped first')
  t.match(await node.run({ getMore: later[0], collection: 'b' }), { code: 175 })
  t.match(await node.run({ getMore: newest, collection: 'c' }), { code: 175 })
  t.match(await node.run({ getMore: live, collection: 'live' }), { ok: 1 })
})

t.test('D610: pipelines keep at most 64 MB of dropped collections', async (t) => {
  const node = new NodeUnderTest()
  const large = 'x'.repeat(15_000_000)
  const ids: Long[] = []
  for (const collection of ['a', 'b', 'c', 'd', 'e']) {
    await node.ok({ insert: collection, documents: [{ x: 1 }, { x: 2 }, { large }] })
    ids.push(idOf(await node.ok({ aggregate: collection, pipeline: redact, cursor: { batchSize: 1 } })))
    await node.ok({ drop: collection })
  }
  t.match(await node.run({ getMore: ids[0], collection: 'a' }), { code: 43 })
  t.match(limitsOf(node), [{ limit: 'droppedBytesMax', value: 64 * 1024 * 1024 }])
  for (const [i, collection] of ['b', 'c', 'd', 'e'].entries())
    t.match(await node.run({ getMore: ids[i + 1], collection }), { code: 175 }, 'still open')
})

function limitsOf(node: NodeUnderTest) {
  return node.context.events.filter(({ type }) => type === 'limit')
}
