/** Manual: reference/command/dbHash, reference/command/top. */
import { createHash } from 'node:crypto'
import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest, shape } from './support/harness.js'

t.test('dbHash is the MD5 of the documents in the order of their _id', async (t) => {
  const node = new NodeUnderTest()
  const documents = [3, 1, 2].map((_id) => ({ _id, text: `text ${_id}` }))
  await node.ok({ insert: 'b', documents })
  await node.ok({ create: 'a', capped: true, size: 1000 })
  await node.ok({ insert: 'other', documents }, { db: 'elsewhere' })
  const md5 = (...pieces: Uint8Array[]) => createHash('md5').update(Buffer.concat(pieces)).digest('hex')
  const ofB = md5(...documents.toSorted((x, y) => x._id - y._id).map((document) => encode(document)))
  const ofA = md5()
  const reply = await node.ok({ dbHash: 1 })
  t.match(reply, { collections: { a: ofA, b: ofB }, capped: ['a'], md5: md5(Buffer.from(ofA + ofB)), timeMillis: 0 })
  t.same(Object.keys(reply['uuids'] as Document), ['a', 'b'])
  t.equal(
    shape(await node.raw({ dbhash: 1 })),
    'host:string collections:object capped:array uuids:object md5:string timeMillis:int ok:double',
  )
  t.match(await node.ok({ dbHash: 1, collections: ['b', 'missing'] }), {
    collections: { b: ofB },
    capped: [],
    md5: md5(Buffer.from(ofB)),
  })
  t.notOk('a' in ((await node.ok({ dbHash: 1, collections: ['b'] }))['collections'] as Document))
  t.match(await node.ok({ dbHash: 1 }, { db: 'nothing' }), { collections: {}, md5: md5() })
  t.match(await node.run({ dbHash: 1, collections: [1] }), { ok: 0, errmsg: 'collections entries have to be strings' })
  await node.ok({ update: 'b', updates: [{ q: { _id: 2 }, u: { $set: { text: 'x' } } }] })
  t.not(((await node.ok({ dbHash: 1 }))['collections'] as Document)['b'], ofB)
})

t.test('top counts by collection and kind of operation', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] })
  await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } } }] })
  const { id } = (await node.ok({ find: 'c', batchSize: 1 }))['cursor'] as { id: unknown }
  await node.ok({ getMore: id, collection: 'c' })
  await node.ok({ delete: 'c', deletes: [{ q: {}, limit: 1 }] })
  await node.ok({ count: 'c' })
  const admin = { db: 'admin' }
  const totals = (await node.ok({ top: 1 }, admin))['totals'] as Record<string, Document>
  t.equal(totals['note'] as unknown, 'all times in microseconds')
  const usage = totals['test.c']!
  const counts = Object.entries(usage).map(([kind, { count }]) => `${kind} ${Number(count)}`)
  t.same(counts, [
    'total 6',
    'readLock 3',
    'writeLock 3',
    'queries 1',
    'getmore 1',
    'insert 1',
    'update 1',
    'remove 1',
    'commands 1',
  ])
  t.equal(shape(await node.raw({ top: 1 }, admin), 'totals'), 'note:string test.c:object')
  await node.ok({ drop: 'c' })
  await node.ok({ insert: 'd', documents: [{}] })
  const after = (await node.ok({ top: 1 }, admin))['totals'] as Record<string, Document>
  t.equal(after['test.c'], undefined, 'a dropped collection restarts at 0')
  t.match(await node.run({ top: 1 }), { code: 13 })
})

t.test('filemd5 is the MD5 of the chunks of a file in their order', async (t) => {
  const node = new NodeUnderTest()
  const data = [Buffer.from('first '), Buffer.from('second'), Buffer.alloc(100, 7)]
  const md5 = (...pieces: Uint8Array[]) => createHash('md5').update(Buffer.concat(pieces)).digest('hex')
  const chunk = (files_id: number | string, n: number, bytes: unknown = data[n]) => ({
    _id: `${files_id} ${n}`,
    files_id,
    n,
    data: bytes,
  })
  t.same(await node.ok({ filemd5: 1 }), { numChunks: 0, md5: md5(), ok: 1 }, 'without a collection')
  await node.ok({ insert: 'fs.chunks', documents: [chunk(1, 2), chunk(1, 0), chunk('other', 0), chunk(1, 1)] })
  t.match(await node.run({ filemd5: 1 }), { code: 291, errmsg: /No indexed plans available/ })
  await node.ok({
    createIndexes: 'fs.chunks',
    indexes: [{ key: { files_id: 1, n: 1 }, name: 'files_id_1_n_1', unique: true }],
  })
  t.same(await node.ok({ filemd5: 1 }), { numChunks: 3, md5: md5(...data), ok: 1 })
  t.match(await node.ok({ filemd5: 'other', root: 'fs' }), { numChunks: 1, md5: md5(data[0]!) })
  t.match(await node.ok({ filemd5: 'none' }), { numChunks: 0, md5: md5() })
  await node.ok({ delete: 'fs.chunks', deletes: [{ q: { n: 1 }, limit: 1 }] })
  t.match(await node.run({ filemd5: 1 }), {
    code: 10040,
    errmsg: 'Executor error during filemd5 command :: caused by :: chunks out of order',
  })
  await node.ok({ insert: 'fs.chunks', documents: [chunk('text', 0, 'text')] })
  t.match(await node.run({ filemd5: 'text' }), {
    code: 50849,
    errmsg: /must be type of BinData, but type of 2 found\.$/,
  })
  t.match(await node.run({ filemd5: 1, partialOk: true }), { code: 115 })
})
