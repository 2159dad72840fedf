/** The clock of these tests advances by one millisecond whenever it is read. */
import t from 'tap'
import type { Long } from '@shardlab/bson'
import { NodeUnderTest } from './support/harness.js'

const expired = { code: 50, codeName: 'MaxTimeMSExpired', ok: 0 }

async function filled(count: number): Promise<NodeUnderTest> {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: Array.from({ length: count }, (_, i) => ({ _id: i, a: i % 7 })) })
  let nowMs = it.context.now()
  it.context.now = () => nowMs++
  return it
}

t.test('D607: an operation ends when its time is over', async (t) => {
  const it = await filled(500)
  const filter = { a: { $gte: 0 } }
  const self = {
    $lookup: {
      from: 'c',
      localField: 'x',
      foreignField: 'y',
      pipeline: [{ $match: { a: { $gt: 99 } } }],
      as: 'joined',
    },
  }
  const commands = {
    find: { find: 'c', filter },
    count: { count: 'c', query: filter },
    distinct: { distinct: 'c', key: 'a', query: filter },
    aggregate: { aggregate: 'c', pipeline: [{ $group: { _id: '$a' } }], cursor: {} },
    lookup: { aggregate: 'c', pipeline: [{ $limit: 20 }, self], cursor: {} },
    unwind: {
      aggregate: 'c',
      pipeline: [{ $limit: 1 }, { $set: { r: { $range: [0, 400] } } }, { $unwind: '$r' }, { $count: 'n' }],
      cursor: {},
    },
    update: { update: 'c', updates: [{ q: filter, u: { $set: { b: 1 } }, multi: true }] },
    delete: { delete: 'c', deletes: [{ q: filter, limit: 0 }] },
    findAndModify: { findAndModify: 'c', query: { a: 99 }, remove: true },
  }
  for (const [name, command] of Object.entries(commands)) {
    const batch = 'find' in command ? { batchSize: 1000 } : {}
    t.match(await it.run({ ...command, ...batch, maxTimeMS: 100 }), expired, name)
  }
  t.equal((await it.ok({ count: 'c' }))['n'], 500, 'nothing was deleted')
  t.match(await it.run({ ...commands.find, batchSize: 1000, maxTimeMS: 100_000 }), { ok: 1 }, 'time enough')
  t.match(await it.run({ ...commands.find, batchSize: 1000, maxTimeMS: 0 }), { ok: 1 }, '0: no limit')
})

t.test('an update that runs out of time keeps its changes and ends the batch', async (t) => {
  const it = await filled(100)
  const updates = [
    { q: { _id: 1 }, u: { $set: { b: 1 } } },
    { q: { a: { $gte: 0 } }, u: { $set: { c: 1 } }, multi: true },
  ]
  t.match(await it.run({ update: 'c', updates, ordered: false, maxTimeMS: 150 }), expired)
  t.match((await it.all('c'))[1], { _id: 1, b: 1 })
  const changed = (await it.ok({ count: 'c', query: { c: 1 } }))['n'] as number
  t.ok(changed > 0 && changed < 100, `${changed} were changed`)
})

t.test('a cursor has the time that its command left, counted during getMore', async (t) => {
  const it = await filled(600)
  const { cursor } = (await it.ok({
    find: 'c',
    filter: { a: { $gte: 0 } },
    batchSize: 100,
    maxTimeMS: 400,
  })) as unknown as {
    cursor: { id: Long }
  }
  for (let i = 0; i < 1000; i++) it.context.now()
  const getMore = { getMore: cursor.id, collection: 'c', batchSize: 100 }
  t.match(await it.run(getMore), { ok: 1 }, 'the time between commands does not count')
  const replies = [await it.run(getMore), await it.run(getMore), await it.run(getMore)]
  t.ok(replies.some((reply) => reply['code'] === 50))
  t.match(await it.run(getMore), { code: 43 }, 'the cursor is closed')
})

t.test('malformed time limits are refused', async (t) => {
  const it = await filled(1)
  const message = (value: number) => `${value} value for maxTimeMS is out of range [0, 2147483647]`
  for (const value of [-1, 2 ** 31])
    t.match(await it.run({ find: 'c', maxTimeMS: value }), { code: 2, errmsg: message(value) })
  t.match(await it.run({ find: 'c', maxTimeMS: 1.5 }), { code: 2, errmsg: 'maxTimeMS has non-integral value' })
})
