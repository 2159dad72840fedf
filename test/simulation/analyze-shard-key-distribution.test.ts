/**
 * analyzeShardKey: targets of sampled reads and writes. Manual: reference/command/analyzeShardKey.
 */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { AnalysedCluster } from './analysed-cluster.js'
import { areSets } from '../support/members.js'

const ns = 'shop.orders'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

t.test(
  'reads and writes are counted by their targets under the key',
  { skip: areSets && 'the seed draws the samples of single members' },
  async (t) => {
    await using world = await AnalysedCluster.start({ emulate: '8.0' })
    await world.shardedOrders(500)
    await world.insert(
      'orders',
      numbers(1000).map((i) => ({ _id: i, x: i, y: i, few: i % 3, sub: { y: i } })),
    )
    await world.admin({ setParameter: 1, analyzeShardKeyNumRanges: 4 }, 'shard01')
    const analyze = (key: Document) => world.admin({ analyzeShardKey: ns, key, keyCharacteristics: false })
    const logged: string[] = []
    world.cluster.onEvent((event) => {
      if (event.type === 'log') logged.push(event.message)
    })
    t.same(
      await analyze({ y: 1 }),
      {
        readDistribution: { sampleSize: { total: 0, find: 0, aggregate: 0, count: 0, distinct: 0 } },
        writeDistribution: { sampleSize: { total: 0, update: 0, delete: 0, findAndModify: 0 } },
        ok: 1,
      },
      'nothing sampled',
    )
    t.ok(logged.includes(`no sampled queries of ${ns}: the distributions are empty`), 'the router logs why')
    t.match(await analyze({ few: 1 }), {
      code: 4952606,
      errmsg: /required number of chunks of 4, it can only make \d chunks$/,
    })
    await world.sample(ns)
    const variable = { $expr: { $eq: ['$y', '$$v'] } }
    await world.slowly([
      // single
      { find: 'orders', filter: { y: 1 } },
      { find: 'orders', filter: variable, let: { v: 1 } },
      { count: 'orders', query: { y: 999 } },
      { aggregate: 'orders', pipeline: [{ $match: { y: 1 } }], cursor: {} },
      // multi
      { find: 'orders', filter: { y: { $lt: 10 } } },
      { find: 'orders', filter: { y: { $in: [1, 999] } } },
      // scatter
      { find: 'orders', filter: { y: 'a string' }, collation: { locale: 'en', strength: 1 } },
      { distinct: 'orders', key: 'x' },
      { find: 'orders', filter: { x: 1 } },
      { find: 'orders' },
    ])
    await world.slowly([
      { update: 'orders', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } } }] },
      { update: 'orders', updates: [{ q: { x: 3 }, u: { $set: { y: 4 } } }] },
      { update: 'orders', updates: [{ q: { _id: 5 }, u: { _id: 5, x: 5, y: 5 } }] },
      { update: 'orders', updates: [{ q: { y: { $lt: 0 } }, u: { $set: { z: 1 } }, multi: true }] },
      { delete: 'orders', deletes: [{ q: { y: 77 }, limit: 1 }] },
      { delete: 'orders', deletes: [{ q: { z: 77 }, limit: 0 }] },
      { findAndModify: 'orders', query: { x: 7 }, update: { $inc: { n: 1 } } },
    ])
    await world.admin({
      bulkWrite: 1,
      ops: [{ update: 0, filter: { y: 8 }, updateMods: { $set: { q: 1 } } }],
      nsInfo: [{ ns }],
    })
    await world.samples()
    const reply = await analyze({ y: 1 })
    t.same(Object.keys(reply), ['readDistribution', 'writeDistribution', 'ok'])
    const { readDistribution: reads, writeDistribution: writes } = reply as {
      readDistribution: Document
      writeDistribution: Document
    }
    t.same(Object.keys(reads), [
      ...[
        'sampleSize',
        'percentageOfSingleShardReads',
        'percentageOfMultiShardReads',
        'percentageOfScatterGatherReads',
        'numReadsByRange',
      ],
    ])
    t.match(reads, {
      sampleSize: { total: 10, find: 7, aggregate: 1, count: 1, distinct: 1 },
      percentageOfSingleShardReads: 40,
      percentageOfMultiShardReads: 20,
      percentageOfScatterGatherReads: 40,
    })
    const byRange = reads['numReadsByRange'] as number[]
    t.equal(byRange.length, 4)
    t.equal(byRange[0], 3 + 2 + 4, 'three that ask for 1, two of several ranges, four of all')
    t.equal(byRange[3], 1 + 1 + 4)
    t.same(Object.keys(writes), [
      ...[
        'sampleSize',
        'percentageOfSingleShardWrites',
        'percentageOfMultiShardWrites',
        'percentageOfScatterGatherWrites',
        'numWritesByRange',
      ],
      ...[
        'percentageOfShardKeyUpdates',
        'percentageOfSingleWritesWithoutShardKey',
        'percentageOfMultiWritesWithoutShardKey',
      ],
    ])
    t.match(writes, {
      sampleSize: { total: 8, update: 5, delete: 2, findAndModify: 1 },
      // With key y: an update, a delete, the operation of bulkWrite; and the replacement by _id.
      percentageOfSingleShardWrites: 50,
      percentageOfMultiShardWrites: 12.5,
      percentageOfScatterGatherWrites: 37.5,
      percentageOfShardKeyUpdates: 12.5,
      percentageOfSingleWritesWithoutShardKey: 25,
      percentageOfMultiWritesWithoutShardKey: 25,
    })
    const hashed = await analyze({ y: 'hashed' })
    t.match(hashed['readDistribution'], {
      percentageOfSingleShardReads: 40,
      percentageOfMultiShardReads: 10,
      percentageOfScatterGatherReads: 50,
    })
    const nested = await analyze({ 'sub.y': 1 })
    t.match(nested['readDistribution'], { percentageOfSingleShardReads: 0, percentageOfScatterGatherReads: 100 })
    const kept = await world.find('analyzeShardKeySplitPoints', 'shard01')
    t.equal(kept.length, 4 * 3, 'the split points of four analyses')
    t.same(Object.keys(kept[0]!), ['_id', 'ns', 'splitPoint', 'expireAt'])
    t.same(Object.keys(kept[0]!['_id']), ['analyzeShardKeyId', 'splitPointId'])
    await world.cluster.advance(400_000)
    t.same(await world.find('analyzeShardKeySplitPoints', 'shard01'), [])
  },
)

t.test('the distribution handles fewer documents than ranges and keys without an index', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  const analyze = (key: Document) => world.admin({ analyzeShardKey: ns, key })
  await world.insert(
    'orders',
    numbers(500).map((i) => ({ x: i })),
  )
  t.match(await analyze({ x: 1 }), {
    code: 4952606,
    errmsg: /^Failed to find split points that partition the data into 100 chunks .* it can only make 51 chunks$/,
  })
  await world.insert(
    'orders',
    numbers(1000).map((i) => ({ x: 500 + i })),
  )
  t.same(
    Object.keys(await analyze({ x: 1 })),
    ['readDistribution', 'writeDistribution', 'ok'],
    'no index, no characteristics',
  )
  await world.index('orders', { x: 1 })
  t.same(Object.keys(await analyze({ x: 1 })), ['keyCharacteristics', 'readDistribution', 'writeDistribution', 'ok'])
})
