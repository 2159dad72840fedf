import { FakeDisk } from '@shardlab/actor/testing'
import { Long, Timestamp, UUID, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const seed = Number(process.env['SHARDLAB_SEED'] ?? Date.now() % 1_000_000)

const now = (node: NodeUnderTest): Timestamp => {
  const [seconds, increment] = node.node.clock.time
  return new Timestamp({ t: seconds, i: increment })
}

const at = (atClusterTime: Timestamp) => ({ readConcern: { level: 'snapshot', atClusterTime } })

const readAt = async (node: NodeUnderTest, time: Timestamp, collection = 'c'): Promise<Document[]> => {
  const { cursor } = await node.ok({ find: collection, batchSize: 100_000, ...at(time) })
  return (cursor as { firstBatch: Document[] }).firstBatch
}

interface Step {
  readonly kind: 'insert' | 'update' | 'delete' | 'many' | 'index' | 'drop' | 'restart' | 'idle'
  readonly id: number
  readonly value: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'update', 'update', 'delete', 'many', 'index', 'drop', 'restart', 'idle'),
  id: fc.integer({ min: 0, max: 20 }),
  value: fc.integer({ min: 0, max: 9 }),
})

async function carryOut(node: NodeUnderTest, { kind, id, value }: Step): Promise<NodeUnderTest> {
  if (kind === 'insert') await node.run({ insert: 'c', documents: [{ _id: id, value }] })
  else if (kind === 'update')
    await node.ok({ update: 'c', updates: [{ q: { value: { $lte: value } }, u: { $inc: { value: 1 } }, multi: true }] })
  else if (kind === 'delete') await node.ok({ delete: 'c', deletes: [{ q: { _id: id }, limit: 1 }] })
  else if (kind === 'many')
    await node.ok({ insert: 'c', documents: Array.from({ length: 30 }, () => ({ text: 'x'.repeat(40), value })) })
  else if (kind === 'index') await node.ok({ createIndexes: 'c', indexes: [{ key: { value: 1 }, name: 'value_1' }] })
  else if (kind === 'drop') await node.run({ drop: 'c' })
  else if (kind === 'restart') return node.restarted()
  return node
}

t.test('every state since a time that can be read can be read', async (t) => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 60 }),
    fc.array(fc.nat(), { minLength: 5, maxLength: 20 }),
    fc.boolean(),
    async (steps, reads, isSmall) => {
      let node = new NodeUnderTest({ disk: new FakeDisk(), ...(isSmall ? { snapshotHistoryBytesMax: 5000 } : {}) })
      const states: { readonly time: Timestamp; readonly documents: Document[] }[] = []
      for (const [index, each] of steps.entries()) {
        node = await carryOut(node, each)
        states.push({ time: now(node), documents: await allOf(node) })
        if (index % 7 === 3) await readAt(node, now(node))
      }
      for (const [, choice] of reads.entries()) {
        const { time, documents } = states[choice % states.length]!
        const reply = await node.run({ find: 'c', batchSize: 100_000, ...at(time) })
        if (reply['code'] === 239 && isSmall) continue
        if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
        same((reply['cursor'] as Document)['firstBatch'], documents)
      }
    },
  )
  await fc.assert(property, { seed, numRuns: 60 })
  t.pass(`seed ${seed}`)
})

async function allOf(node: NodeUnderTest): Promise<Document[]> {
  return ((await node.ok({ find: 'c', batchSize: 100_000 }))['cursor'] as { firstBatch: Document[] }).firstBatch
}

function same(found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${a}\nis not\n${b}`)
}

t.test('a state that no read has kept is read by undoing changes', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const time = now(node)
  await node.ok({ insert: 'c', documents: [{ _id: 2 }] })
  t.same(await readAt(node, time), [{ _id: 1 }])
  t.same(await readAt(node, now(node)), [{ _id: 1 }, { _id: 2 }])
  t.equal(node.node.snapshots.size, 2)
  await readAt(node, time)
  t.equal(node.node.snapshots.size, 2, 'a repeated read uses the same data')
})

t.test('a time before the history window is too old', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const time = now(node)
  await readAt(node, time)
  node.context.nowMs += 299_000
  t.same(await readAt(node, time), [{ _id: 1 }])
  node.context.nowMs += 2000
  t.match(await node.run({ find: 'c', ...at(time) }), {
    code: 239,
    codeName: 'SnapshotTooOld',
    errmsg: `Read timestamp Timestamp(${time.high}, ${time.low}) is older than the oldest available timestamp.`,
  })
  await node.ok({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 600 }, { db: 'admin' })
  t.same(await readAt(node, time), [{ _id: 1 }])
  node.node.snapshots.expire()
  t.equal(node.node.snapshots.size, 1)
  await node.ok({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 0 }, { db: 'admin' })
  node.node.snapshots.expire()
  t.equal(node.node.snapshots.size, 0)
  const old = new NodeUnderTest({ version: '4.4' })
  t.match(await old.run({ getParameter: 1, minSnapshotHistoryWindowInSeconds: 1 }, { db: 'admin' }), { ok: 0 })
})

t.test('D501 the history has a limit, and begins at the checkpoint after a restart', async (t) => {
  let node = new NodeUnderTest({ snapshotHistoryBytesMax: 100_000, checkpointAfterBytes: 20_000 })
  await node.ok({ insert: 'c', documents: [{ _id: 1, x: 0, text: 'x'.repeat(1000) }] })
  const times: Timestamp[] = []
  for (let i = 0; i < 1000; i++) {
    await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { x: 1 } } }] })
    times.push(now(node))
  }
  t.match(await node.run({ find: 'c', ...at(times[0]!) }), { code: 239 })
  t.match(node.context.events.at(-1), { type: 'limit', limit: 'snapshotHistoryBytesMax', value: 100_000 })
  t.ok(node.node.snapshots.undoBytes <= 100_000)
  for (const i of [999, 930, 998, 950]) t.match(await readAt(node, times[i]!), [{ _id: 1, x: i + 1 }])
  node = node.restarted()
  t.match(await node.run({ find: 'c', ...at(times[900]!) }), { code: 239 })
  t.match(await readAt(node, times[999]!), [{ _id: 1, x: 1000 }])
  t.match(await readAt(node, times[998]!), [{ _id: 1, x: 999 }])
})

t.test('inserts are undone without memory for each', async (t) => {
  const node = new NodeUnderTest()
  const times: Timestamp[] = []
  for (let i = 0; i < 100; i++) {
    await node.ok({ insert: 'c', documents: Array.from({ length: 1000 }, (_, j) => ({ _id: i * 1000 + j })) })
    times.push(now(node))
  }
  t.ok(node.node.snapshots.undoBytes < 1000, `${node.node.snapshots.undoBytes}`)
  t.equal((await readAt(node, times[3]!)).length, 4000)
  const [seconds, increment] = [times[5]!.high, times[5]!.low]
  const between = new Timestamp({ t: seconds, i: increment - 400 })
  t.equal((await readAt(node, between)).at(-1)?.['_id'], 5599, 'in the middle of a command')
})

t.test('large dropped collections are not held for readers of the past', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'small', documents: [{ _id: 1 }] })
  const documents = Array.from({ length: 100 }, () => ({ text: 'x'.repeat(100_000) }))
  await node.ok({ insert: 'large', documents }, {})
  const time = now(node)
  await node.ok({ insert: 'small', documents: [{ _id: 2 }] })
  await node.ok({ drop: 'large' })
  t.match(await node.run({ find: 'small', ...at(time) }), { code: 239 })
  t.equal(node.node.snapshots.undoBytes, 0)
})

t.test('a transaction is visible at its commit as a whole', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, x: 1 },
      { _id: 2, x: 2 },
    ],
  })
  const before = now(node)
  const lsid = { id: new UUID(Buffer.alloc(16, 1)) }
  const inside = { lsid, txnNumber: Long.fromNumber(1), autocommit: false }
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { x: 5 } } }], ...inside, startTransaction: true })
  await node.ok({ delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }], ...inside })
  await node.ok({ insert: 'c', documents: [{ _id: 3 }], ...inside })
  const open = now(node)
  await node.ok({ commitTransaction: 1, ...inside }, { db: 'admin' })
  const committed = now(node)
  await node.ok({ delete: 'c', deletes: [{ q: {}, limit: 0 }] })
  for (const time of [open, before])
    t.same(await readAt(node, time), [
      { _id: 1, x: 1 },
      { _id: 2, x: 2 },
    ])
  t.same(await readAt(node, committed), [{ _id: 1, x: 5 }, { _id: 3 }])
})

t.test('until 6.0, reads of the past do not find what was dropped, created or renamed since then', async (t) => {
  const outcomes = async (version: '6.0' | '7.0') => {
    const node = new NodeUnderTest({ version })
    for (const collection of ['dropped', 'again', 'old', 'same'])
      await node.ok({ insert: collection, documents: [{ _id: 1 }] })
    const time = now(node)
    await node.ok({ drop: 'dropped' })
    await node.ok({ drop: 'again' })
    await node.ok({ insert: 'again', documents: [{ _id: 2 }] })
    await node.ok({ create: 'created' })
    await node.ok({ renameCollection: 'test.old', to: 'test.new' }, { db: 'admin' })
    await node.ok({ createIndexes: 'same', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
    const found: Document = {}
    for (const collection of ['dropped', 'again', 'created', 'old', 'new', 'same', 'never']) {
      const reply = await node.run({ find: collection, ...at(time) })
      found[collection] = reply['code'] ?? (reply['cursor'] as { firstBatch: Document[] }).firstBatch.length
    }
    return found
  }
  t.same(await outcomes('6.0'), { dropped: 0, again: 246, created: 246, old: 0, new: 246, same: 1, never: 0 })
  t.same(await outcomes('7.0'), { dropped: 1, again: 1, created: 0, old: 1, new: 0, same: 1, never: 0 })
})

t.test('the message of a changed catalog has the time of the change', async (t) => {
  const node = new NodeUnderTest({ version: '6.0' })
  const text = ({ high, low }: Timestamp) => `Timestamp(${high}, ${low})`
  await node.ok({ insert: 'other', documents: [{}] })
  const time = now(node)
  await node.ok({ create: 'c' })
  const created = now(node)
  await node.ok({ insert: 'c', documents: [{}] })
  t.match(await node.run({ find: 'c', ...at(time) }), {
    code: 246,
    codeName: 'SnapshotUnavailable',
    errmsg: `Unable to read from a snapshot due to pending collection catalog changes; please retry the operation. Snapshot timestamp is ${text(time)}. Collection minimum is ${text(created)}`,
  })
})

t.test('until 7.0 capped collections have no snapshots', async (t) => {
  const outcome = async (version: '7.0' | '8.0') => {
    const node = new NodeUnderTest({ version })
    await node.ok({ create: 'c', capped: true, size: 4096 })
    await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
    return node.run({ find: 'c', readConcern: { level: 'snapshot' } })
  }
  t.match(await outcome('7.0'), {
    code: 246,
    errmsg: 'Reading from capped collections with readConcern snapshot is not supported',
  })
  t.match(await outcome('8.0'), { ok: 1, cursor: { firstBatch: [{ _id: 1 }] } })
})

t.test('each batch of a snapshot has its time', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  const read = async (level: string) => {
    const { cursor } = (await node.ok({ find: 'c', batchSize: 1, readConcern: { level } })) as { cursor: Document }
    const more = (await node.ok({ getMore: cursor['id'], collection: 'c' }))['cursor'] as Document
    return [cursor['atClusterTime'], more['atClusterTime'], Object.keys(more)]
  }
  const time = now(node)
  t.same(await read('snapshot'), [time, time, ['nextBatch', 'id', 'ns', 'atClusterTime']])
  t.same(await read('local'), [undefined, undefined, ['nextBatch', 'id', 'ns']])
})
