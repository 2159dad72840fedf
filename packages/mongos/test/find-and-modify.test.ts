import { Long, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { RealCluster, type RealClusterOptions } from './support/real-cluster.js'

const session = (byte: number) => ({ id: new UUID(Buffer.alloc(16, byte)) })

async function filled(options: RealClusterOptions = {}): Promise<RealCluster> {
  const cluster = await RealCluster.create(options)
  await cluster.run({
    insert: 'c',
    documents: [
      { _id: 1, x: -5, v: 3, s: 'b' },
      { _id: 2, x: 50, v: 1, s: 'C' },
      { _id: 3, x: 150, v: 2, s: 'a' },
    ],
  })
  return cluster
}

t.test('findAndModify with the shard key goes to one shard', async (t) => {
  for (const emulate of ['4.4', '6.0', '8.0'] as const) {
    const cluster = await filled({ emulate })
    t.match(await cluster.run({ findAndModify: 'c', query: { x: 50 }, update: { $inc: { v: 1 } }, new: true }), {
      lastErrorObject: { n: 1, updatedExisting: true },
      value: { _id: 2, v: 2 },
      ok: 1,
    })
    t.equal(cluster.countOf('findAndModify'), 1)
  }
})

t.test(
  'findAndModify without the shard key is refused until 7.0, except by versions that target one shard by the filter',
  async (t) => {
    for (const [emulate, looks] of [
      ['4.4', false],
      ['5.0', true],
      ['6.0.2', false],
      ['6.0', true],
      ['7.0', true],
    ] as const) {
      const cluster = await filled({ emulate })
      t.match(await cluster.run({ findAndModify: 'c', query: { _id: 2 }, update: { $inc: { v: 1 } } }), {
        ok: 0,
        code: 61,
        errmsg: looks
          ? 'Query with sharded findAndModify expected to only target one shard, but the query targeted 3 shard(s)'
          : 'Query for sharded findAndModify must contain the shard key',
      })
      const byRange = await cluster.run({ findAndModify: 'c', query: { x: { $gt: 120 } }, remove: true })
      t.equal(byRange['code'], looks ? undefined : 61, emulate)
      const deletion = await cluster.run({ delete: 'c', deletes: [{ q: { x: { $lt: -100 } }, limit: 1 }] })
      t.equal(deletion['writeErrors']?.[0].code, looks ? undefined : 61, emulate)
    }
  },
)

t.test('since 8.0 findAndModify takes the first document of the cluster in the order of the sort', async (t) => {
  const cluster = await filled()
  t.match(await cluster.run({ findAndModify: 'c', query: { _id: 3 }, update: { $set: { w: 1 } } }), {
    value: { _id: 3 },
  })
  t.match(await cluster.run({ findAndModify: 'c', sort: { v: 1 }, update: { $set: { w: 2 } } }), { value: { _id: 2 } })
  t.match(await cluster.run({ findAndModify: 'c', sort: { v: -1 }, remove: true }), {
    value: { _id: 1 },
    lastErrorObject: { n: 1 },
  })
  t.same(
    await cluster
      .run({ findAndModify: 'c', query: { none: 1 }, update: { $set: { w: 3 } } })
      .then(({ lastErrorObject, value }) => [lastErrorObject, value]),
    [{ n: 0, updatedExisting: false }, null],
  )
  t.same(
    await cluster
      .run({ findAndModify: 'c', query: { none: 1 }, remove: true })
      .then(({ lastErrorObject }) => lastErrorObject),
    {
      n: 0,
    },
  )
  t.match(await cluster.all(), [
    { _id: 2, w: 2 },
    { _id: 3, w: 1 },
  ])
})

t.test('the sort of findAndModify follows the collation', async (t) => {
  const sorted = async (options: RealClusterOptions, collation?: Document) => {
    const cluster = await filled(options)
    const reply = await cluster.run({
      findAndModify: 'c',
      sort: { s: -1 },
      update: { $set: { w: 1 } },
      ...(collation === undefined ? {} : { collation }),
    })
    return (reply['value'] as Document)['s']
  }
  t.equal(await sorted({}), 'b')
  t.equal(await sorted({}, { locale: 'en' }), 'C')
  t.equal(await sorted({ collation: { locale: 'en' } }), 'C')
})

t.test('an upsert goes to the shard that owns its document', async (t) => {
  const cluster = await filled()
  const reply = await cluster.run({
    findAndModify: 'c',
    query: { k: 1 },
    update: { $set: { x: 500 } },
    upsert: true,
    new: true,
  })
  t.match(reply, { lastErrorObject: { n: 1, updatedExisting: false }, value: { x: 500, k: 1 } })
  t.equal(cluster.nodes.get('shard03')!.collection('test.c')!.count, 2)
})

t.test('a repeated findAndModify is answered by the shard that executed it', async (t) => {
  const cluster = await filled()
  let byte = 0
  for (const command of [
    { query: { v: { $gt: 0 } }, sort: { v: 1 }, update: { $set: { v: 100 } }, new: true },
    { query: { v: { $lt: 50 } }, sort: { v: 1 }, remove: true },
    { query: { k: 9 }, update: { $set: { x: 77 } }, upsert: true },
    { query: { x: 77 }, update: { $inc: { v: 1 } } },
  ] as Document[]) {
    const retryable = { findAndModify: 'c', ...command, lsid: session(++byte), txnNumber: Long.fromNumber(1) }
    const first = await cluster.run(retryable)
    const before = await cluster.all()
    const again = await cluster.run(retryable)
    t.same(
      [again['lastErrorObject'], again['value'], again['retriedStmtId']],
      [first['lastErrorObject'], first['value'], 0],
    )
    t.same(await cluster.all(), before)
  }
})

t.test('findAndModify on an unsharded collection goes to its shard', async (t) => {
  const cluster = await filled()
  t.match(await cluster.run({ findAndModify: 'u', query: { _id: 1 }, update: { a: 1 }, upsert: true, new: true }), {
    value: { _id: 1, a: 1 },
  })
  t.equal(cluster.nodes.get('shard01')!.collection('test.u')!.count, 1)
  t.match(await cluster.run({ findAndModify: 'u', query: {}, remove: true, writeConcern: { w: 5 } }), {
    value: { a: 1 },
    writeConcernError: {
      code: 100,
      errmsg: 'Not enough data-bearing nodes at shard01',
      errInfo: { writeConcern: { w: 5 } },
    },
  })
  t.match(await cluster.run({ findAndModify: 'u', remove: true, update: {} }), { ok: 0, code: 9 })
})
