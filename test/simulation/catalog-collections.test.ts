/** `system.indexes` and `system.namespaces` of 2.6 through routers. */
import t from 'tap'
import { ask, start } from './two-shard-cluster.js'

t.test('a router of 2.6 reads the catalog collections of the primary shard', async (t) => {
  const cluster = await start(t, { emulate: '2.6' })
  await ask(cluster, { createIndexes: 'plain', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  const { cursor } = (await ask(cluster, { find: 'system.indexes', filter: { ns: 'app.plain' } })) as {
    cursor: { firstBatch: unknown[] }
  }
  t.same(cursor.firstBatch, [
    { v: 1, key: { _id: 1 }, name: '_id_', ns: 'app.plain' },
    { v: 1, key: { a: 1 }, name: 'a_1', ns: 'app.plain' },
  ])
  t.match(await ask(cluster, { count: 'system.indexes', query: { ns: 'app.things' } }), { n: 2 })
  t.match(await ask(cluster, { count: 'system.namespaces', query: { name: 'app.things' } }, 'shard02'), { n: 1 })
})

t.test('until 4.0 an insert into system.indexes creates the index on every shard with a part', async (t) => {
  for (const emulate of ['2.6', '4.0'] as const) {
    const cluster = await start(t, { emulate })
    const insert = { insert: 'system.indexes', documents: [{ key: { y: 1 }, name: 'y_1', ns: 'app.things' }] }
    t.match(await ask(cluster, insert), { ok: 1, n: 2 }, emulate)
    t.match(await ask(cluster, insert), { ok: 1, n: 0 }, emulate)
    for (const shard of ['shard01', 'shard02'])
      t.match(await ask(cluster, { listIndexes: 'things' }, shard), {
        cursor: { firstBatch: [{ name: '_id_' }, { name: 'x_1' }, { name: 'y_1' }] },
      })
    const unique = { key: { z: 1 }, name: 'z_1', ns: 'app.things', unique: true }
    t.match(await ask(cluster, { insert: 'system.indexes', documents: [unique] }), {
      ok: 1,
      n: 0,
      writeErrors: [{ index: 0, code: 67 }],
    })
    t.match(await ask(cluster, { update: 'system.indexes', updates: [{ q: {}, u: { $set: { a: 1 } } }] }), {
      ok: 1,
      n: 0,
      writeErrors: [{ code: 10156 }],
    })
  }
})

t.test('since 4.4 a router refuses to insert into system.indexes', async (t) => {
  const cluster = await start(t, { emulate: '4.4' })
  t.match(
    await ask(cluster, { insert: 'system.indexes', documents: [{ key: { y: 1 }, name: 'y', ns: 'app.things' }] }),
    {
      ok: 1,
      n: 0,
      writeErrors: [{ code: 73, errmsg: 'Invalid system namespace: app.system.indexes' }],
    },
  )
})
