import { Long } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

t.test('the TTL monitor deletes expired documents', async (t) => {
  const node = new NodeUnderTest()
  const at = (seconds: number) => new Date(node.context.nowMs + seconds * 1000)
  const wake = () => node.node.wake('ttl-monitor')
  await node.ok({
    createIndexes: 'c',
    indexes: [
      { key: { at: 1 }, name: 'at_1', expireAfterSeconds: 60 },
      { key: { down: -1 }, name: 'down_-1', expireAfterSeconds: 0, partialFilterExpression: { kind: 1 } },
    ],
  })
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 'old', at: at(-61) },
      { _id: 'new', at: at(-59) },
      { _id: 'earliest counts', at: [at(1000), at(-100)] },
      { _id: 'all new', at: [at(1000), at(2000)] },
      { _id: 'no date', at: 1 },
      { _id: 'none' },
      { _id: 'down', down: at(-1), kind: 1 },
      { _id: 'not in the index', down: at(-1), kind: 2 },
      { _id: 'before 1970', at: new Date(-1e12) },
    ],
  })
  t.equal(node.context.timers.get('ttl-monitor'), node.context.nowMs + 60_000)
  await wake()
  t.same(
    (await node.all('c')).map((each) => each['_id']),
    ['all new', 'new', 'no date', 'none', 'not in the index'],
  )
  t.same(node.node.ttl.counters, { passes: 1, deletedDocuments: 4 })
  await node.ok({ collMod: 'c', index: { name: 'at_1', expireAfterSeconds: Long.fromNumber(30) } })
  await wake()
  t.equal((await node.ok({ count: 'c', query: { _id: 'new' } }))['n'], 0)
  node.context.nowMs += 2_000_000
  await node.ok({ setParameter: 1, ttlMonitorEnabled: false }, { db: 'admin' })
  await wake()
  t.equal((await node.ok({ count: 'c', query: { _id: 'all new' } }))['n'], 1, 'switched off')
  await node.ok({ setParameter: 1, ttlMonitorEnabled: true, ttlMonitorSleepSecs: 5 }, { db: 'admin' })
  await wake()
  t.equal((await node.ok({ count: 'c', query: { _id: 'all new' } }))['n'], 0)
  t.equal(node.context.timers.get('ttl-monitor'), node.context.nowMs + 5000)
  t.same((await node.restarted().all('c')).length, 3)
})

t.test('a TTL pass finds collections whose time limit was added later', async (t) => {
  const node = new NodeUnderTest()
  const pass = async (): Promise<unknown[]> => {
    for (const name of ['a', 'b'])
      await node.ok({ update: name, updates: [{ q: { _id: 1 }, u: { at: new Date(0) }, upsert: true }] })
    await node.node.wake('ttl-monitor')
    const found = []
    for (const name of ['a', 'b']) if ((await node.all(name)).length === 0) found.push(name)
    return found
  }
  const limited = { key: { at: 1 }, name: 'at_1', expireAfterSeconds: 60 }
  t.same(await pass(), [])
  await node.ok({ createIndexes: 'b', indexes: [limited] })
  t.same(await pass(), ['b'])
  await node.ok({ createIndexes: 'a', indexes: [limited] })
  t.same(await pass(), ['a', 'b'])
  await node.ok({ dropIndexes: 'b', index: 'at_1' })
  t.same(await pass(), ['a'])
  await node.ok({ renameCollection: 'test.a', to: 'test.b', dropTarget: true }, { db: 'admin' })
  t.same(await pass(), ['b'])
  await node.ok({ drop: 'b' })
  t.same(await pass(), [])
  await node.ok({ createIndexes: 'b', indexes: [limited] })
  t.same(await pass(), ['b'], 'one that was created again')
})
