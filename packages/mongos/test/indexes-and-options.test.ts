import t from 'tap'
import { realCluster, type ShardedCollection } from './support/real-cluster.js'
import { FakeCluster, staleReply } from './support/fake-cluster.js'
import { threeShards } from './support/three-shards.js'

const sharded: ShardedCollection = { ns: 'test.c', field: 'x', splits: [0, 100] }
const documents = [-50, 10, 150].map((x, _id) => ({ _id, x, at: new Date(0) }))
const hosts = [0, 1, 2].map((i) => `shard0${i + 1}/127.0.0.1:${5000 + i}`)

t.test('index commands on a sharded collection return the reply of each shard', async (t) => {
  const cluster = await realCluster([sharded])
  await cluster.run({ insert: 'c', documents })
  const created = await cluster.run({
    createIndexes: 'c',
    indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 3600 }],
  })
  t.same(Object.keys(created['raw']), hosts)
  t.match(created['raw'][hosts[1]!], {
    numIndexesBefore: 1,
    numIndexesAfter: 2,
    createdCollectionAutomatically: false,
    ok: 1,
  })
  const modified = await cluster.run({ collMod: 'c', index: { name: 'at_1', hidden: true } })
  t.same(Object.keys(modified['raw']), hosts)
  for (const host of hosts) t.match(modified['raw'][host], { hidden_old: false, hidden_new: true, ok: 1 })
  const dropped = await cluster.run({ dropIndexes: 'c', index: 'at_1' })
  for (const host of hosts) t.match(dropped['raw'][host], { nIndexesWas: 2, ok: 1 })
  const missing = await cluster.run({ dropIndexes: 'c', index: 'at_1' })
  t.match(missing, { ok: 0, code: 27, errmsg: 'index not found with name [at_1]' })
  t.same(Object.keys(missing['raw']), hosts)
  t.match(missing['raw'][hosts[2]!], { ok: 0, code: 27, codeName: 'IndexNotFound' })
})

t.test(
  'until 5.0, after stale routing on one shard dropIndexes spares the shards that succeeded, repeatable commands do not',
  async (t) => {
    for (const [command, asked] of [
      [{ dropIndexes: 'c', index: 'a_1' }, [1, 2, 1]],
      [{ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] }, [2, 2, 2]],
      [{ collMod: 'c', index: { name: 'a_1', hidden: true } }, [2, 2, 2]],
    ] as const) {
      const cluster = threeShards({ emulate: '5.0' })
      const stale = new Set(['shard02'])
      const dropped = new Set<string>()
      cluster.script((shard, _command, name) => {
        if (stale.delete(shard)) return staleReply()
        if (name === 'dropIndexes' && dropped.has(shard))
          return { ok: 0, code: 27, codeName: 'IndexNotFound', errmsg: 'index not found with name [a_1]' }
        dropped.add(shard)
        return { nIndexesWas: 2, ok: 1 }
      })
      const reply = await cluster.run(command)
      t.match(reply, { ok: 1 }, JSON.stringify(command))
      t.same(Object.keys(reply['raw']).toSorted(), hosts)
      for (const host of hosts) t.match(reply['raw'][host], { nIndexesWas: 2, ok: 1 })
      t.same(
        ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard).length),
        asked,
      )
    }
  },
)

t.test('index commands on an unsharded collection go to its shard', async (t) => {
  const cluster = await realCluster([])
  await cluster.run({ insert: 'u', documents })
  await cluster.run({ createIndexes: 'u', indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 3600 }] })
  const modified = await cluster.run({ collMod: 'u', index: { name: 'at_1', expireAfterSeconds: 60 } })
  const times = { expireAfterSeconds_old: { low: 3600 }, expireAfterSeconds_new: { low: 60 } }
  t.match(modified, { ...times, raw: { [hosts[0]!]: times }, ok: 1 })
  t.notOk('ok' in modified['raw'][hosts[0]!])
  const older = await realCluster([], '5.0')
  await older.run({ create: 'u' })
  t.match(await older.run({ collMod: 'u', validationLevel: 'off' }), { raw: { [hosts[0]!]: { ok: 1 } }, ok: 1 })
  t.match(await cluster.run({ dropIndexes: 'u', index: '*' }), {
    raw: { [hosts[0]!]: { nIndexesWas: 2, ok: 1 } },
    ok: 1,
  })
  t.match(await cluster.run({ deleteIndexes: 'u', index: '*' }), { ok: 1 })
  t.match(await cluster.run({ dropIndexes: 'none', index: '*' }), { ok: 0, code: 26 })
  t.match(await cluster.run({ collMod: 'none' }), { ok: 0, code: 26 })
})

t.test('validators apply on every shard', async (t) => {
  const cluster = await realCluster([sharded])
  await cluster.run({ insert: 'c', documents })
  t.match(await cluster.run({ collMod: 'c', validator: { x: { $type: 'int' } } }), { ok: 1 })
  const { writeErrors, n } = await cluster.run({
    insert: 'c',
    documents: [-1.5, 1.5, 101.5, 7].map((x) => ({ x })),
    ordered: false,
  })
  t.equal(n, 1)
  t.same(
    writeErrors.map(
      ({ index, code, errInfo }: { index: number; code: number; errInfo: { details: { operatorName: string } } }) => [
        index,
        code,
        errInfo.details.operatorName,
      ],
    ),
    [0, 1, 2].map((index) => [index, 121, '$type']),
  )
})

t.test('convertToCapped converts unsharded collections only', async (t) => {
  const cluster = await realCluster([sharded])
  await cluster.run({ insert: 'u', documents })
  t.match(await cluster.run({ convertToCapped: 'u', size: 4096 }), { ok: 1 })
  t.match((await cluster.run({ listCollections: 1, filter: { name: 'u' } }))['cursor'].firstBatch[0].options, {
    capped: true,
  })
  t.match(await cluster.run({ convertToCapped: 'c', size: 4096 }), {
    code: 20,
    errmsg: "You can't convertToCapped a sharded collection",
  })
  t.match(await cluster.run({ cloneCollectionAsCapped: 'u', toCollection: 'k', size: 4096 }), { ok: 1 })
  t.match(await cluster.run({ count: 'k' }), { n: 3 })
})

t.test('renameCollection renames on the primary shard and refuses another one', async (t) => {
  const cluster = await realCluster([])
  await cluster.run({ insert: 'u', documents })
  t.match(await cluster.run({ renameCollection: 'test.u', to: 'test.w' }), { code: 13 }, 'only on admin')
  const rename = (from: string, to: string) => cluster.run({ renameCollection: from, to, $db: 'admin' })
  t.match(await rename('test.u', 'test.w'), { ok: 1 })
  t.match(await cluster.run({ count: 'w' }), { n: 3 })
  t.match(await cluster.run({ count: 'u' }), { n: 0 })
  t.match(await rename('none.u', 'none.w'), { code: 26 })
  t.match(await rename('test.w', 'new.w'), { ok: 1 }, 'the database is made beside the source')
  t.equal(cluster.databases.get('new')!.primary, 'shard01')
  t.match(await cluster.run({ count: 'w', $db: 'new' }), { n: 3 })
  cluster.databases.set('far', { primary: 'shard02', lastMod: 1 })
  t.match(await rename('new.w', 'far.w'), {
    code: 125,
    errmsg: 'Source and destination collections must be on same shard',
  })
})

t.test('dropping a collection of a missing database succeeds', async (t) => {
  const cluster = await realCluster([])
  cluster.databases.delete('test')
  t.match(await cluster.run({ drop: 'none' }), { ok: 1 })
})

t.test('a damaged chunk is an error of the command, and the router keeps running', async (t) => {
  const damages: [string, (chunks: { min: object; max: object; shard: string }[]) => void][] = [
    ['a gap', (chunks) => chunks.splice(1, 1)],
    ['an overlap', (chunks) => void (chunks[1]!.min = { x: -10 })],
    ['no last chunk', (chunks) => chunks.pop()],
    ['no chunks', (chunks) => chunks.splice(0)],
    ['a bound of another shape', (chunks) => void (chunks[1]!.min = { y: 1 })],
  ]
  for (const [what, damage] of damages) {
    const cluster = new FakeCluster()
    const collection = cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
    const healthy = collection.chunks
    collection.chunks = healthy.map((chunk) => ({ ...chunk }))
    damage(collection.chunks)
    cluster.script(() => ({ ok: 1, n: 1 }))
    t.match(await cluster.run({ insert: 'c', documents: [{ x: 1 }] }), { ok: 0, errmsg: /./, code: 117 }, what)
    collection.chunks = healthy
    t.match(await cluster.run({ insert: 'c', documents: [{ x: 1 }] }), { ok: 1, n: 1 }, 'mended')
  }
})
