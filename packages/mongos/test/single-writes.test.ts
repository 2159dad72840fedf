import { decode, Long, Timestamp, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { cursorReply } from './support/fake-cluster.js'
import { RealCluster } from './support/real-cluster.js'
import { threeShards } from './support/three-shards.js'

const lsid = { id: new UUID(Buffer.alloc(16, 1)) }

async function filled(): Promise<RealCluster> {
  const cluster = await RealCluster.create()
  await cluster.run({ insert: 'c', documents: [-5, 50, 150].map((x, i) => ({ _id: i, x, v: 10 - i, s: 'abc'[i] })) })
  return cluster
}

t.test('an update with a sort takes the first document of the cluster', async (t) => {
  const cluster = await filled()
  await cluster.run({ update: 'c', updates: [{ q: {}, u: { $set: { first: 1 } }, sort: { v: 1 } }] })
  t.match(await cluster.all(), [{ first: undefined }, { first: undefined }, { first: 1 }])
})

t.test('a repeated statement without shard key is executed once', async (t) => {
  const cluster = await filled()
  const update = {
    update: 'c',
    updates: [{ q: { done: null }, u: { $set: { done: 1 } } }],
    lsid,
    txnNumber: Long.fromNumber(1),
  }
  t.match(await cluster.run(update), { n: 1, nModified: 1 })
  t.match(await cluster.run(update), { n: 1, nModified: 1, retriedStmtIds: [0] })
  const remove = { delete: 'c', deletes: [{ q: { v: { $gt: 0 } }, limit: 1 }], lsid, txnNumber: Long.fromNumber(2) }
  t.match(await cluster.run(remove), { n: 1 })
  t.match(await cluster.run(remove), { n: 1, retriedStmtIds: [0] })
  const upsert = {
    update: 'c',
    updates: [{ q: { k: 1 }, u: { $set: { x: 7 } }, upsert: true }],
    lsid,
    txnNumber: Long.fromNumber(3),
  }
  const first = await cluster.run(upsert)
  t.same((await cluster.run(upsert))['upserted'], first['upserted'])
  t.equal((await cluster.all()).length, 3)
})

const conflict = { ok: 0, code: 112, codeName: 'WriteConflict', errmsg: 'WriteConflict error' }

t.test('after a conflict the search and the write run again in another transaction', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  let conflicts = 0
  const transactions = new Set<string>()
  cluster.script((shard, { body }, name) => {
    const { lsid: internal, txnNumber, autocommit } = decode(body)
    t.equal(autocommit, false)
    transactions.add(`${String(internal['txnUUID'])} ${txnNumber}`)
    if (name === 'find') return cursorReply(shard === 'shard02' ? [{ _id: conflicts }] : [])
    if (name !== 'update' && name !== 'findAndModify') return { ok: 1 }
    if (conflicts-- > 0) return conflict
    return name === 'update'
      ? { n: 1, nModified: 1, readOnly: false, ok: 1 }
      : { lastErrorObject: { n: 1, updatedExisting: true }, value: { _id: 1 }, readOnly: false, ok: 1 }
  })
  const updates = [{ q: { y: 1 }, u: { $set: { z: 1 } } }]
  for (const run of [
    () => cluster.run({ update: 'c', updates }),
    () => cluster.run({ update: 'c', updates, lsid }),
    () => cluster.run({ update: 'c', updates, lsid, txnNumber: Long.fromNumber(1) }),
  ]) {
    conflicts = 2
    transactions.clear()
    t.match(await run(), { n: 1, nModified: 1 })
    t.equal(transactions.size, 3)
  }
  conflicts = 2
  t.match(await cluster.run({ findAndModify: 'c', query: { y: 1 }, update: { $set: { z: 1 } } }), { value: { _id: 1 } })
})

t.test('the internal session of a retryable write names the session of the client and the number', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  const sessions: Document[] = []
  cluster.script((_, { body }, name) => {
    sessions.push(decode(body)['lsid'])
    return name === 'find' ? cursorReply([]) : { ok: 1 }
  })
  const remove = { delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }
  await cluster.run({ ...remove, lsid, txnNumber: Long.fromNumber(5) })
  t.match(sessions, Array(6).fill({ ...lsid, txnNumber: Long.fromNumber(5), txnUUID: UUID }))
  sessions.length = 0
  await cluster.run({ ...remove, lsid })
  t.match(sessions, Array(6).fill({ ...lsid, txnNumber: undefined, txnUUID: UUID }))
  sessions.length = 0
  await cluster.run(remove)
  await cluster.run(remove)
  t.match(sessions, Array(12).fill({ txnUUID: undefined }))
  t.equal(new Set(sessions.map(({ id }) => String(id))).size, 1, 'sessions of the router are used again')
})

t.test('a commit whose outcome is unknown is repeated, and then an error', async (t) => {
  const cluster = threeShards({ emulate: '8.0', limits: { remoteRetriesMax: 1 } })
  let failures = 0
  cluster.script((shard, _command, name) => {
    if (name === 'find') return cursorReply(shard === 'shard02' ? [{ _id: 1 }] : [])
    if (name === 'update') return { n: 1, nModified: 1, readOnly: false, ok: 1 }
    return shard === 'shard02' && failures-- > 0 ? { ok: 0, code: 91, errmsg: 'shutdown' } : { ok: 1 }
  })
  const update = { update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } } }] }
  failures = 3
  t.match(await cluster.run(update), { n: 1 })
  t.equal(cluster.commandsTo('shard02').filter(({ name }) => name === 'update').length, 1)
  failures = 100
  t.match(await cluster.run(update), { n: 0, writeErrors: [{ code: 6, errmsg: 'shutdown' }] })
  t.equal(cluster.commandsTo('shard02').filter(({ name }) => name === 'update').length, 2, 'it is not run again')
})

t.test('let and collation are sent to shards and used in the search', async (t) => {
  const cluster = await filled()
  t.match(
    await cluster.run({
      update: 'c',
      updates: [{ q: { $expr: { $eq: ['$v', '$$nine'] } }, u: { $set: { hit: 1 } } }],
      let: { nine: 9 },
    }),
    { n: 1 },
  )
  t.match(
    await cluster.run({
      delete: 'c',
      deletes: [{ q: { s: 'C' }, limit: 1, collation: { locale: 'en', strength: 2 } }],
    }),
    { n: 1 },
  )
  t.match(await cluster.run({ update: 'c', updates: [{ q: {}, u: {}, sort: { v: 1 }, multi: true }] }), {
    ok: 0,
    code: 9,
  })
  t.match(await cluster.all(), [{ _id: 0 }, { _id: 1, hit: 1 }])
})

t.test('the router refuses concerns that the command does not accept', async (t) => {
  const cluster = await filled()
  t.match(await cluster.run({ insert: 'c', documents: [{}], writeConcern: { w: 99 } }), { ok: 0, code: 9 })
  t.match(await cluster.run({ insert: 'c', documents: [{}], readConcern: { level: 'majority' } }), { ok: 0, code: 72 })
  t.match(await cluster.run({ find: 'c', writeConcern: { w: 1 } }), { ok: 0, code: 72 })
  t.match(await cluster.run({ insert: 'c', documents: [{ x: 1 }], writeConcern: { w: 'other' } }), {
    n: 1,
    writeConcernError: {
      code: 79,
      errmsg: "No write concern mode named 'other' found in replica set configuration at shard02",
    },
  })
  t.match(await cluster.run({ createIndexes: 'u', indexes: [{ key: { a: 1 }, name: 'a' }], writeConcern: { w: 2 } }), {
    ok: 1,
    writeConcernError: { code: 100, errInfo: { writeConcern: { w: 2 } } },
  })
})

t.test('a snapshot read uses the same time on all shards', async (t) => {
  const cluster = await filled()
  const values = (cursor: Document) => (cursor['firstBatch'] as Document[]).map(({ v }) => v)
  const find = { find: 'c', sort: { _id: 1 } }
  const first = (await cluster.run({ ...find, readConcern: { level: 'snapshot' } }))['cursor'] as Document
  const atClusterTime = first['atClusterTime'] as Timestamp
  t.ok(atClusterTime instanceof Timestamp)
  await cluster.run({ update: 'c', updates: [{ q: {}, u: { $inc: { v: 100 } }, multi: true }] })
  const readConcern = { level: 'snapshot', atClusterTime }
  t.same(values((await cluster.run({ ...find, readConcern }))['cursor'] as Document), [10, 9, 8])
  t.same(
    values((await cluster.run({ ...find, readConcern: { level: 'snapshot' } }))['cursor'] as Document),
    [110, 109, 108],
  )
  const pipeline = [{ $group: { _id: null, v: { $sum: '$v' } } }]
  t.match(await cluster.run({ aggregate: 'c', pipeline, cursor: {}, readConcern }), {
    cursor: { firstBatch: [{ v: 27 }], atClusterTime },
  })
  const distinct = await cluster.run({ distinct: 'c', key: 'v', readConcern })
  t.same([(distinct['values'] as number[]).sort(), distinct['atClusterTime']], [[10, 8, 9], atClusterTime])
})

t.test('errors of a stopping router label retryable writes as retryable', async (t) => {
  const cluster = await filled()
  await cluster.mongos.stop!()
  const insert = { insert: 'c', documents: [{ x: 1 }] }
  t.match(await cluster.run({ ...insert, lsid, txnNumber: Long.fromNumber(9) }), {
    code: 91,
    errorLabels: ['RetryableWriteError'],
  })
  t.notOk('errorLabels' in (await cluster.run(insert)))
})

t.test('with _id in the shard key, an upsert without one goes to the owner of the generated _id', async (t) => {
  const cluster = await RealCluster.create({ sharded: [{ ns: 'test.c', field: '_id', splits: [0, 100] }] })
  const update = await cluster.run({ update: 'c', updates: [{ q: { k: 1 }, u: { $set: { y: 1 } }, upsert: true }] })
  t.match(update, { n: 1, upserted: [{ index: 0 }] })
  const modified = await cluster.run({ findAndModify: 'c', query: { k: 2 }, update: { y: 2 }, upsert: true, new: true })
  t.match(modified, { lastErrorObject: { n: 1, updatedExisting: false }, value: { y: 2 } })
  const found = await cluster.all()
  t.match(found, [{ k: 1, y: 1 }, { y: 2 }], 'both are seen, so they are where they belong')
  t.same(found[0]!['_id'], (update['upserted'] as Document[])[0]!['_id'])
})

t.test('only the commit has the write concern of a write without shard key', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  const concerns: [string, Document | undefined][] = []
  cluster.script((shard, { body }, name) => {
    concerns.push([name, decode(body)['writeConcern']])
    if (name === 'find') return cursorReply(shard === 'shard02' ? [{ _id: 1 }] : [])
    return name === 'update' ? { n: 1, nModified: 1, readOnly: false, ok: 1 } : { ok: 1 }
  })
  const updates = [{ q: { y: 1 }, u: { $set: { z: 1 } } }]
  t.match(await cluster.run({ update: 'c', updates, writeConcern: { w: 'majority' } }), {
    n: 1,
    writeErrors: undefined,
  })
  const found = (command: string) => concerns.filter(([name]) => name === command).map(([, concern]) => concern?.['w'])
  t.same(new Set([...found('find'), ...found('update')]), new Set([undefined]))
  t.ok(found('commitTransaction').length > 0)
  t.same(new Set(found('commitTransaction')), new Set(['majority']))
})
