import t from 'tap'
import { RealCluster } from './support/real-cluster.js'

t.test('plan cache commands run on the owners, and the reply is that of the first one', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({ insert: 'c', documents: [-1, 1, 101].map((x) => ({ x })) })
  t.match(await cluster.run({ planCacheListFilters: 'c' }), {
    filters: [],
    shard01: { filters: [], ok: 1 },
    shard02: { filters: [], ok: 1 },
    shard03: { filters: [], ok: 1 },
    ok: 1,
  })
  t.match(await cluster.run({ planCacheClear: 'c' }), { shard01: { ok: 1 }, shard03: { ok: 1 }, ok: 1 })
  t.match(await cluster.run({ planCacheClearFilters: 'c', sort: {} }), { ok: 0, code: 2, shard01: { ok: 0, code: 2 } })
  t.match(await cluster.run({ planCacheClear: 'c', $db: 'missing' }), { code: 26 })
  t.match(await cluster.run({ aggregate: 'c', pipeline: [{ $planCacheStats: {} }], cursor: {} }), {
    cursor: { firstBatch: [] },
  })
})

t.test('routers refuse compact and lack reIndex and replSetGetConfig', async (t) => {
  const cluster = await RealCluster.create()
  t.match(await cluster.run({ compact: 'c', force: true }), { code: 115, errmsg: 'compact not allowed through mongos' })
  t.match(await cluster.run({ reIndex: 'c' }), { code: 59 })
  t.match(await cluster.run({ replSetGetConfig: 1, $db: 'admin' }), { code: 59 })
  t.match(await cluster.run({ usersInfo: 1 }), { users: [], ok: 1 })
})
