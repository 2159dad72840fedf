/** Which documents commands through a router find on a shard, by version. */
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

const find = { find: 'c' }

t.test('until 5.0 updates and deletes through a router include orphans', async (t) => {
  for (const [version, included] of [
    ['2.6', true],
    ['4.0', true],
    ['4.4', true],
    ['5.0', true],
    ['6.0', false],
    ['8.0', false],
  ] as const) {
    for (const [q, limit] of [
      [{ a: { $gte: -2 } }, 0],
      [{ _id: 3 }, 1],
    ] as const) {
      const shards = new Shards({ version })
      await shards.direct('shard01', { insert: 'c', documents: [-1, -2, 5].map((a, i) => ({ _id: i + 1, a })) })
      shards.config.shard('db.c', { a: 1 }, [0], ['shard01', 'shard02'])
      const shardVersion = limit === 0 ? ('IGNORED' as const) : shards.config.version('db.c', 'shard01')
      const updates = [{ q, u: { $set: { seen: 1 } }, multi: limit === 0 }]
      const owned = limit === 0 ? 2 : 0
      const n = included ? owned + 1 : owned
      t.match(await shards.routed('shard01', { update: 'c', updates }, { shardVersion }), { n, nModified: n }, version)
      const findAndModify = { findAndModify: 'c', query: { _id: 3 }, update: { $set: { seen: 2 } } }
      t.match(
        await shards.routed('shard01', findAndModify, { shardVersion: shards.config.version('db.c', 'shard01') }),
        {
          lastErrorObject: { n: included ? 1 : 0 },
        },
      )
      const deletes = [{ q, limit }]
      t.match(await shards.routed('shard01', { delete: 'c', deletes }, { shardVersion }), { n }, version)
      t.equal((await shards.ids('shard01', find, 'direct')).includes(3), !included)
    }
  }
})

t.test('until 4.0 no shard owns a document that lacks the key', async (t) => {
  for (const [version, seen] of [
    ['2.6', [1]],
    ['4.0', [1]],
    ['4.4', [1, 2]],
  ] as const) {
    const shards = new Shards({ version })
    await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: -1 }, { _id: 2 }] })
    shards.config.shard('db.c', { a: 1 }, [0], ['shard01', 'shard02'])
    const shardVersion = shards.config.version('db.c', 'shard01')
    t.same(await shards.ids('shard01', find, { shardVersion }), seen, version)
    t.same(await shards.ids('shard01', find, 'direct'), [1, 2])
  }
})

t.test('an index with the hash of a shard key field finds orphans without the documents', async (t) => {
  const stagesOf = ({ stage, inputStage }: Document): string[] => [
    stage as string,
    ...(inputStage === undefined ? [] : stagesOf(inputStage as Document)),
  ]
  for (const version of ['4.4', '7.0', '8.0'] as const) {
    const shards = new Shards({ version })
    t.equal((await shards.shardCollection('db.c', { key: { a: 1, h: 'hashed' } })).error, null)
    const shardVersion = shards.config.version('db.c', 'shard01')
    const plan = async (projection: Document) => {
      const find = { find: 'c', filter: { a: { $gte: 5 } }, projection }
      const { queryPlanner } = await shards.routed('shard01', { explain: find }, { shardVersion })
      return stagesOf((queryPlanner as Document)['winningPlan'] as Document)
    }
    t.same(await plan({ a: 1, _id: 0 }), ['PROJECTION_COVERED', 'SHARDING_FILTER', 'IXSCAN'], version)
    t.same(await plan({ h: 1, _id: 0 }), ['PROJECTION_SIMPLE', 'FETCH', 'SHARDING_FILTER', 'IXSCAN'], version)
  }
})
