import t from 'tap'
import { FakeCluster, staleReply, statementsOf } from './support/fake-cluster.js'
import { inserted, threeShards } from './support/three-shards.js'

t.test('after a refused batch the routing is refreshed and only pending statements are sent again', async (t) => {
  const cluster = threeShards()
  cluster.script((shard, command) => (cluster.isCurrent('test.c', shard, command) ? inserted(command) : staleReply()))
  await cluster.run({ insert: 'c', documents: [{ _id: 0, x: 1 }] })
  cluster.move('test.c', 2, 'shard01')
  const reply = await cluster.run({
    insert: 'c',
    ordered: false,
    documents: [
      { _id: 1, x: 1 },
      { _id: 2, x: 500 },
      { _id: 3, x: -1 },
    ],
  })
  t.match(reply, { n: 3, ok: 1 })
  t.notOk('writeErrors' in reply)
  t.equal(cluster.countSent('config.get-collection'), 2)
  t.same(
    cluster.commandsTo('shard01').map(({ command }) => statementsOf(command, 'documents').map(({ _id }) => _id)),
    [[3], [2, 3]],
  )
})

t.test('a batch that is refused as stale in its middle resumes there', async (t) => {
  const cluster = threeShards()
  let calls = 0
  cluster.script((_shard, command) => {
    const documents = statementsOf(command, 'documents')
    if (calls++ > 0) return { n: documents.length, ok: 1 }
    return {
      n: 1,
      writeErrors: [
        { index: 0, code: 11000, errmsg: 'dup' },
        { index: 2, code: 13388, ns: 'test.c', errmsg: 'stale' },
      ],
      ok: 1,
    }
  })
  const reply = await cluster.run({
    insert: 'c',
    ordered: false,
    documents: [1, 2, 3, 4].map((_id) => ({ _id, x: 1 })),
  })
  t.match(reply, { n: 3, writeErrors: [{ index: 0, code: 11000 }], ok: 1 })
  t.equal(reply['writeErrors'].length, 1)
  t.same(
    statementsOf(cluster.commandsTo('shard02')[1]!.command, 'documents'),
    [3, 4].map((_id) => ({ _id, x: 1 })),
  )
})

t.test('a write with a stale database version is sent again', async (t) => {
  const cluster = new FakeCluster()
  cluster.scripts.set('shard01', () => ({ ok: 0, code: 249, errmsg: 'moved', db: 'test' }))
  cluster.scripts.set('shard02', inserted)
  await cluster.run({ count: 'warm' })
  cluster.databases.set('test', { primary: 'shard02', lastMod: 2 })
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1 }] }), { n: 1, ok: 1 })
  t.same(cluster.commandsTo('shard02')[0]!.command.databaseVersion, ['00112233445566778899aabbccddeeff', 3, 1, 2])
})

t.test('a batch fails after five rounds without progress', async (t) => {
  const cluster = threeShards()
  cluster.script(() => staleReply())
  const reply = await cluster.run({
    insert: 'c',
    documents: [
      { _id: 1, x: 1 },
      { _id: 2, x: 1 },
    ],
  })
  t.match(reply, {
    n: 0,
    writeErrors: [
      {
        index: 0,
        code: 82,
        errmsg:
          'no progress was made executing batch write op in test.c after 5 rounds (0 ops completed in 6 rounds total)',
      },
    ],
    ok: 1,
  })
  t.equal(reply['writeErrors'].length, 1)
})
