import { createDeferred, DiskFullError } from '@shardlab/actor'
import { encode, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { check } from '@shardlab/bson/testing'
import { FakeDisk } from '@shardlab/actor/testing'
import { long, NodeUnderTest, session } from './support/harness.js'

async function contents(node: NodeUnderTest): Promise<string> {
  const seen: unknown[] = []
  for (const collection of node.node.engine.collections()) {
    const [db, name] = [
      collection.ns.slice(0, collection.ns.indexOf('.')),
      collection.ns.slice(collection.ns.indexOf('.') + 1),
    ]
    const indexes = ((await node.ok({ listIndexes: name }, { db }))['cursor'] as Document)['firstBatch'] as Document[]
    seen.push([collection.ns, Buffer.from(collection.uuid).toString('hex'), await node.all(name, db), indexes])
  }
  return JSON.stringify(seen)
}

const id = fc.integer({ min: 0, max: 9 })
const name = fc.constantFrom('a', 'b')
const command: fc.Arbitrary<Document> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      insert: name,
      documents: fc.array(fc.record({ _id: id, v: id }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(name, id, fc.boolean())
      .map(([update, q, upsert]) => ({ update, updates: [{ q: { _id: q }, u: { $inc: { v: 1 } }, upsert }] })),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(name, id).map(([name, v]) => ({ delete: name, deletes: [{ q: { v: { $lt: v } }, limit: 0 }] })),
  },
  fc.tuple(name, fc.boolean()).map(([name, unique]) => ({
    createIndexes: name,
    indexes: [{ key: { v: 1 }, name: 'v_1', ...(unique ? { unique } : {}) }],
  })),
  name.map((name) => ({ drop: name })),
  fc.constant({ dropDatabase: 1 }),
)

class InstantDisk extends FakeDisk {
  appendNow(record: Uint8Array): boolean {
    if (!this.hasRoom(record.length)) return false
    this.records.push(new Uint8Array(record))
    return true
  }
}

t.test('recovery restores acknowledged writes from checkpoint and log', async () => {
  const checkpointAt = fc.integer({ min: 1, max: 3000 })
  await check(
    fc.asyncProperty(
      fc.array(command, { maxLength: 30 }),
      checkpointAt,
      fc.boolean(),
      async (commands, checkpointAfterBytes, isInstant) => {
        const node = new NodeUnderTest({ checkpointAfterBytes, disk: isInstant ? new InstantDisk() : new FakeDisk() })
        for (const each of commands) await node.run(each)
        const before = await contents(node)
        const again = node.restarted()
        const after = await contents(again)
        if (after !== before) throw new Error(`recovered ${after}, was ${before}`)
      },
    ),
    100,
  )
})

t.test('a checkpoint replaces the log and is not written for each change', async (t) => {
  const node = new NodeUnderTest({ checkpointAfterBytes: 2000 })
  await node.ok({ insert: 'c', documents: [{ _id: 1, x: 'x'.repeat(3000) }] })
  t.equal(node.context.disk.checkpointCount, 1)
  t.equal(node.context.disk.records.length, 0)
  for (let i = 0; i < 20; i++) {
    await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { x: 'x'.repeat(3000), y: i } }] })
  }
  const { checkpointCount } = node.context.disk
  t.ok(
    checkpointCount > 1 && checkpointCount < 15,
    `${checkpointCount} checkpoints: only when the log has outgrown the last one twice`,
  )
  t.match(await node.restarted().all('c'), [{ _id: 1, y: 19 }])
})

t.test('a checkpoint follows once most of the disk was dropped or deleted', async (t) => {
  const documents = Array.from({ length: 100 }, (_, _id) => ({ _id, x: 'x'.repeat(1000) }))
  const node = new NodeUnderTest({ checkpointAfterBytes: 50_000, oplogSizeBytes: 1000 })
  const { disk } = node.context
  const usedBytes = (): number => disk.usage().logBytes + disk.usage().checkpointBytes
  await node.ok({ insert: 'kept', documents: documents.slice(0, 5) })
  await node.ok({ insert: 'c', documents })
  t.ok(usedBytes() > 100_000)
  await node.ok({ drop: 'c' })
  t.ok(usedBytes() < 10_000, `${usedBytes()} bytes after the drop`)
  const { checkpointCount } = disk
  for (let i = 0; i < 10; i++) {
    await node.ok({ insert: 'small', documents: documents.slice(0, 2) })
    await node.ok({ drop: 'small' })
  }
  t.ok(disk.checkpointCount - checkpointCount < 4, 'not after each small one')
  await node.ok({ insert: 'c', documents })
  await node.ok({ insert: 'd', documents: documents.slice(0, 1) })
  await node.ok({ renameCollection: 'test.d', to: 'test.c', dropTarget: true }, { db: 'admin' })
  t.ok(usedBytes() < 10_000, `${usedBytes()} bytes after the rename`)
  await node.ok({ insert: 'e', documents })
  await node.ok({ dropDatabase: 1 })
  t.ok(usedBytes() < 10_000, `${usedBytes()} bytes after the drop of the database`)
  t.same(await contents(node.restarted()), await contents(node))
})

t.test('a write is acknowledged when it and all earlier ones are on the disk', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 0 }] })
  const { disk } = node.context
  disk.held = true
  const answered: number[] = []
  const writes = [1, 2, 3].map((i) => node.ok({ insert: 'c', documents: [{ _id: i }] }).then(() => answered.push(i)))
  await Promise.resolve()
  t.equal(disk.waiting, 1, 'one append at a time')
  t.same(answered, [])
  const records = disk.records.length
  disk.release()
  await Promise.all(writes)
  t.same(answered.sort(), [1, 2, 3])
  t.equal(disk.records.length, records + 2, 'waiting entries are appended together')
  t.equal((await node.restarted().all('c')).length, 4)
})

t.test('D903 on a full disk no acknowledged write is lost and no refused one is visible', async (t) => {
  const waited = await fill(t, new FakeDisk(6000))
  t.same(await fill(t, new InstantDisk(6000)), waited, 'a disk without latency has the same room')
})

/** @returns the `_id`s of the documents that had room */
async function fill(t: Test, disk: FakeDisk): Promise<number[]> {
  const node = new NodeUnderTest({ disk })
  const acknowledged: number[] = []
  let failure: Document | undefined
  for (let i = 0; i < 50 && failure === undefined; i++) {
    const reply = await node.run({ insert: 'c', documents: [{ _id: i, x: 'x'.repeat(200) }] })
    if (reply['n'] === 1) acknowledged.push(i)
    else failure = reply
  }
  t.match(failure, { ok: 1, n: 0, writeErrors: [{ index: 0, code: 14031 }] })
  t.ok(acknowledged.length > 5)
  const ids = async (of: NodeUnderTest): Promise<unknown[]> => (await of.all('c')).map((document) => document['_id'])
  t.same(await ids(node), acknowledged)
  t.same(await ids(node.restarted()), acknowledged)
  const grow = { q: { _id: 0 }, u: { $set: { x: 'y'.repeat(500) } } }
  t.match(await node.run({ update: 'c', updates: [grow] }), { ok: 1, n: 0, writeErrors: [{ code: 14031 }] })
  t.match(await node.run({ findAndModify: 'c', query: grow.q, update: grow.u }), { ok: 0, code: 14031 })
  t.match(await node.all('c'), [{ x: 'x'.repeat(200) }])
  disk.limitBytes = 1_000_000
  await node.ok({ insert: 'c', documents: [{ _id: 2000 }] })
  t.same(await ids(node.restarted()), [...acknowledged, 2000], 'with room again disk and memory agree')
  return acknowledged
}

t.test('a disk without any room refuses changes, and replies to retries of earlier ones', async (t) => {
  const disk = new FakeDisk()
  const node = new NodeUnderTest({ disk })
  const insert = { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], lsid: session(1), txnNumber: long(1) }
  await node.ok(insert)
  disk.limitBytes = 0
  const refused: readonly Document[] = [
    { create: 'd' },
    { createIndexes: 'c', indexes: [{ key: { x: 1 }, name: 'x_1' }] },
    { collMod: 'c', validationLevel: 'off' },
    { dropIndexes: 'c', index: '*' },
    { drop: 'c' },
    { dropDatabase: 1 },
    { convertToCapped: 'c', size: 1000 },
    { cloneCollectionAsCapped: 'c', toCollection: 'd', size: 1000 },
    { findAndModify: 'c', query: { _id: 1 }, remove: true },
  ]
  for (const command of refused)
    t.match(await node.run(command), { ok: 0, code: 14031, codeName: 'OutOfDiskSpace' }, JSON.stringify(command))
  t.match(await node.run({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }), { n: 0, writeErrors: [{ code: 14031 }] })
  t.match(await node.run({ insert: 'other', documents: [{ _id: 1 }] }), { n: 0, writeErrors: [{ code: 14031 }] })
  t.match(await node.run(insert), { ok: 1, n: 2 }, 'a retry of an executed write')
  t.match(await node.run({ listCollections: 1 }), { cursor: { firstBatch: [{ name: 'c' }] } })
  t.equal((await node.all('c')).length, 2)
  disk.limitBytes = 1_000_000
  t.equal((await node.restarted().all('c')).length, 2)
})

t.test('a copy of a collection is refused before it starts if only a part has room', async (t) => {
  for (const size of [20, 400]) {
    const insert = {
      insert: 'c',
      documents: Array.from({ length: 20_000 / (size + 100) }, (_, _id) => ({ _id, x: 'x'.repeat(size) })),
    }
    const measured = new NodeUnderTest()
    await measured.ok(insert)
    const node = new NodeUnderTest({ disk: new FakeDisk(measured.context.disk.usage().logBytes * 1.5) })
    await node.ok(insert)
    const before = await contents(node)
    for (const command of [
      { cloneCollectionAsCapped: 'c', toCollection: 'd', size: 100_000 },
      { convertToCapped: 'c', size: 100_000 },
    ])
      t.match(await node.run(command), { ok: 0, code: 14031 }, `${size}: ${JSON.stringify(command)}`)
    t.match(await node.run({ renameCollection: 'test.c', to: 'other.c' }, { db: 'admin' }), { ok: 0, code: 14031 })
    t.equal(await contents(node), before)
    t.equal(await contents(node.restarted()), before)
    await node.ok({ cloneCollectionAsCapped: 'c', toCollection: 'd', size: 512 })
    t.equal(await contents(node.restarted()), await contents(node), 'a small one has room')
  }
})

t.test('an entry whose append fails during a checkpoint that includes it is not written twice', async (t) => {
  const disk = new FakeDisk(20_000)
  const node = new NodeUnderTest({ disk })
  await node.ok({ insert: 'c', documents: [{ _id: 1, x: 'x'.repeat(15_000) }] })
  const write = disk.writeCheckpoint.bind(disk)
  const checkpoint = createDeferred<void>()
  disk.writeCheckpoint = async (image) => {
    await checkpoint.promise
    await write(image)
  }
  disk.held = true
  const first = node.run({ insert: 'c', documents: [{ _id: 2 }] })
  const second = node.run({ insert: 'c', documents: [{ _id: 3, x: 'x'.repeat(5000) }] })
  disk.limitBytes = 10_000
  disk.release()
  await Promise.resolve()
  disk.limitBytes = 20_000
  checkpoint.resolve()
  t.match(await first, { ok: 1, n: 1 })
  t.match(await second, { n: 0, writeErrors: [{ code: 14031 }] }, 'it has started the checkpoint')
  await node.ok({ insert: 'c', documents: [{ _id: 4 }] })
  t.equal(await contents(node.restarted()), await contents(node))
})

t.test('concurrent changes on a full disk are acknowledged only when they are on the disk', async (t) => {
  // The outcome depends on how many turns later the third insert starts, so try several.
  for (let turns = 0; turns < 25; turns++) {
    const disk = new FakeDisk()
    const node = new NodeUnderTest({ disk, checkpointAfterBytes: 0 })
    await node.ok({ insert: 'c', documents: [{ _id: 0 }] })
    const { uuid } = node.node.collection('test.c')!
    const refuse = () => Promise.reject(new DiskFullError(0))
    Object.assign(disk, { append: refuse, writeCheckpoint: refuse })
    const insert = (_id: number): Promise<boolean> => {
      node.node.apply({
        op: 'i',
        ns: 'test.c',
        uuid,
        object: encode({ _id, x: 'x'.repeat(500) }),
        id: null,
        session: null,
      })
      return node.node.flush().then(
        () => true,
        () => false,
      )
    }
    const first = [insert(1), insert(2)]
    for (let i = 0; i < turns; i++) await Promise.resolve()
    t.same(await Promise.all([...first, insert(3)]), [false, false, false], `${turns} turns later`)
    for (const method of ['append', 'writeCheckpoint']) Reflect.deleteProperty(disk, method)
    await node.node.flush()
    t.equal(await contents(node.restarted()), await contents(node))
  }
})

t.test('a log full of changes to one document shrinks to a checkpoint', async (t) => {
  const disk = new FakeDisk(8000)
  const node = new NodeUnderTest({ disk })
  await node.ok({ insert: 'c', documents: [{ _id: 1, n: 0 }] })
  for (let i = 0; i < 200; i++) await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] })
  t.ok(disk.checkpointCount > 0)
  t.same(await node.restarted().all('c'), [{ _id: 1, n: 200 }])
})

t.test('a retried write that a full disk refused is on the disk when its reply is sent', async (t) => {
  const disk = new FakeDisk(400)
  const node = new NodeUnderTest({ disk })
  const insert = { insert: 'c', documents: [{ _id: 1, x: 'x'.repeat(500) }], lsid: session(1), txnNumber: long(1) }
  t.match(await node.run(insert), { n: 0, writeErrors: [{ code: 14031 }] })
  t.match(await node.run(insert), { n: 0, writeErrors: [{ code: 14031 }] }, 'still')
  disk.limitBytes = 1_000_000
  t.match(await node.ok(insert), { n: 1 })
  t.equal((await node.restarted().all('c')).length, 1)
})

t.test('cluster time continues after a restart and advances to received times', async (t) => {
  const node = new NodeUnderTest()
  await node.node.nodeCommand({ ...node.command({ ping: 1 }), clusterTime: [1_900_000_000, 5] })
  const reply = await node.node.nodeCommand(node.command({ insert: 'c', documents: [{ _id: 1 }] }))
  t.ok(reply.clusterTime[0] === 1_900_000_000 && reply.clusterTime[1] > 5)
  const again = node.restarted()
  const later = await again.node.nodeCommand(again.command({ insert: 'c', documents: [{ _id: 2 }] }))
  t.ok(later.clusterTime[0] === 1_900_000_000 && later.clusterTime[1] > reply.clusterTime[1])
})

t.test(
  'documents that are inserted together are one record of the log, or a checkpoint if they are many',
  async (t) => {
    for (const [checkpointAfterBytes, checkpoints, records] of [
      [1_000_000, 0, 1],
      [2000, 1, 0],
    ] as const) {
      const node = new NodeUnderTest({ checkpointAfterBytes })
      await node.ok({ create: 'c' })
      await node.ok({ createIndexes: 'c', indexes: [{ key: { v: 1 }, name: 'v_1', unique: true }] })
      const { disk } = node.context
      const before = disk.records.length
      const seen: number[] = []
      node.node.observe(({ op }) => seen.push(op === 'i' ? 1 : 0))
      const collection = node.node.collection('test.c')!
      node.node.insertAll(
        collection,
        Array.from({ length: 50 }, (_, i) => encode({ _id: i, v: i })),
      )
      t.throws(() => node.node.insertAll(collection, [encode({ _id: 50, v: 50 }), encode({ _id: 51, v: 3 })]), /E11000/)
      await node.node.flush()
      t.equal(seen.length, 50)
      t.equal(disk.checkpointCount, checkpoints)
      t.equal(disk.records.length, checkpoints > 0 ? records : before + records)
      await node.ok({ insert: 'c', documents: [{ _id: 99, v: 99 }] })
      t.equal((await node.all('c')).length, 51)
      t.equal(await contents(node.restarted()), await contents(node))
    }
  },
)
