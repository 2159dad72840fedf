import { decode, Long, type Document } from '@shardlab/bson'
import { OwnershipFilter, ShardKeyPattern } from '@shardlab/sharding'
import fc from 'fast-check'
import t from 'tap'
import { check } from '@shardlab/bson/testing'
import { NodeUnderTest, shape } from './support/harness.js'

async function filled(documents: Document[], version?: '7.0' | '8.0'): Promise<NodeUnderTest> {
  const node = new NodeUnderTest(version === undefined ? {} : { version })
  if (documents.length > 0) await node.ok({ insert: 'c', documents })
  return node
}

const valuesOf = async (node: NodeUnderTest, key: string, rest: Document = {}): Promise<unknown[]> =>
  (await node.ok({ distinct: 'c', key, ...rest }))['values'] as unknown[]

t.test('distinct reads paths, arrays and positions as the server does', async (t) => {
  const cases: [string, Document[], unknown[]][] = [
    ['a', [{}], []],
    ['a', [{ a: null }], [null]],
    ['a', [{ a: [] }], []],
    ['a', [{ a: [[]] }], [[]]],
    ['a', [{ a: {} }], [{}]],
    ['a', [{ a: 2.5 }, { a: 3 }, { a: 1 }, { a: 2.5 }], [1, 2.5, 3]],
    ['a', [{ a: { b: 1 } }, { a: 'str' }, { a: null }, { a: 'str' }, { a: { b: 1 } }], [null, 'str', { b: 1 }]],
    ['a', [{ a: [2, 3] }, { a: 1 }, { a: [1, [2, 3]] }, { a: [3, 'x'] }], [1, 2, 3, 'x', [2, 3]]],
    ['a.0', [{ a: 0 }, { a: [1, 2] }, { a: [1, 3] }, { a: [[2, 3], 'x'] }, { a: [[[4]], null] }], [1, 2, 3, [4]]],
    [
      'a.b.c',
      [
        { a: [{ b: { c: 1 } }, { b: { c: [2, 20] } }] },
        { a: { b: [{ c: [3, 30] }, { c: [4] }] } },
        { a: { b: { c: [1, 10] } } },
      ],
      [1, 2, 3, 4, 10, 20, 30],
    ],
    [
      'a.0.b.1.c',
      [{ a: [{ b: [{ c: 2 }, { c: [1, 10] }] }, { b: [{ c: 3 }, { c: 4 }] }] }, { a: { b: { c: 7 } } }],
      [1, 10],
    ],
    ['a.b', [{ a: 1 }, { a: null }, { a: { x: 2 } }, { a: { b: 3 } }], [3]],
  ]
  for (const [key, documents, expected] of cases) {
    t.same(await valuesOf(await filled(documents), key), expected, `${key} of ${JSON.stringify(documents)}`)
  }
})

t.test('distinct respects a query, a collation and a hint', async (t) => {
  const documents = [
    { a: 'b', n: 1 },
    { a: 'B', n: 2 },
    { a: 'a', n: 3 },
  ]
  const node = await filled(documents, '8.0')
  t.same(await valuesOf(node, 'a'), ['B', 'a', 'b'], 'by bytes')
  t.same(await valuesOf(node, 'a', { collation: { locale: 'en', strength: 2 } }), ['a', 'b'])
  t.same(await valuesOf(node, 'a', { query: { n: { $gt: 1 } } }), ['B', 'a'])
  await node.ok({ createIndexes: 'c', indexes: [{ key: { n: 1 }, name: 'n_1' }] })
  t.same(await valuesOf(node, 'n', { hint: 'n_1' }), [1, 2, 3])
  t.match(await node.run({ distinct: 'c', key: 'n', hint: 'nope' }), { ok: 0, code: 2 })
  t.same((await (await filled([])).ok({ distinct: 'c', key: 'a' }))['values'], [], 'of a missing collection')
})

t.test('distinct refuses invalid arguments', async (t) => {
  const node = await filled([{ a: 1 }])
  t.match(await node.run({ distinct: 'c' }), { code: 40414 })
  t.match(await node.run({ distinct: 'c', key: 1 }), { code: 14 })
  t.match(await node.run({ distinct: 'c', key: 'a\0b' }), { code: 31032 })
  t.match(await node.run({ distinct: 'c', key: 'a', hint: '_id_' }), { code: 40415 }, 'hints exist since 7.1')
  const large = new NodeUnderTest()
  for (let i = 0; i < 17; i++) await large.ok({ insert: 'c', documents: [{ a: `${i}${'x'.repeat(1024 * 1024)}` }] })
  t.match(await large.run({ distinct: 'c', key: 'a' }), { code: 17217, errmsg: /distinct too big, 16mb cap/ })
})

t.test('D600: distinct returns the values of the documents with any index', async (t) => {
  const node = await filled([{ a: [] }, { a: [[1, 2]] }, { a: [3] }, { b: 2 }, {}, { b: 1 }])
  await node.ok({
    createIndexes: 'c',
    indexes: [
      { key: { a: 1 }, name: 'a_1' },
      { key: { b: 1 }, name: 'b_1' },
    ],
  })
  t.same(await valuesOf(node, 'a'), [3, [1, 2]])
  t.same(await valuesOf(node, 'b'), [1, 2])
})

t.test('an index changes nothing about distinct (property)', async () => {
  const value = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom(null, 'x', { b: 1 }))
  const document = fc.record({ a: value, b: fc.integer({ min: 0, max: 3 }) }, { requiredKeys: ['b'] })
  await check(
    fc.asyncProperty(
      fc.array(document, { maxLength: 25 }),
      fc.constantFrom({}, { b: 1 }, { b: { $gte: 1 } }),
      async (documents, query) => {
        const plain = await filled(documents)
        const indexed = await filled(documents)
        await indexed.ok({
          createIndexes: 'c',
          indexes: [
            { key: { a: 1 }, name: 'a_1' },
            { key: { b: 1, a: -1 }, name: 'b_1_a_-1' },
          ],
        })
        const [one, other] = [await valuesOf(plain, 'a', { query }), await valuesOf(indexed, 'a', { query })]
        return JSON.stringify(one) === JSON.stringify(other)
      },
    ),
    60,
  )
})

t.test('count respects query, hint, skip and limit', async (t) => {
  const node = await filled([1, 2, 3, 4, 5].map((a) => ({ a, name: a % 2 === 0 ? 'x' : 'X' })))
  const n = async (rest: Document = {}) => (await node.ok({ count: 'c', ...rest }))['n'] as number
  t.equal(await n(), 5)
  t.equal(await n({ query: {} }), 5)
  t.equal(await n({ query: { a: { $gt: 2 } } }), 3)
  t.equal(await n({ query: { a: { $gt: 2 } }, limit: 2 }), 2)
  t.equal(await n({ limit: -2 }), 2, 'a negative limit counts like a positive one')
  t.equal(await n({ skip: 4 }), 1)
  t.equal(await n({ skip: 9 }), 0)
  t.equal(await n({ skip: 1, limit: 2, query: { a: { $gte: 1 } } }), 2)
  t.equal(await n({ query: { name: 'x' } }), 2)
  t.equal(await n({ query: { name: 'x' }, collation: { locale: 'en', strength: 2 } }), 5)
  t.equal(await n({ fields: { a: 1 } }), 5, 'an old shell sends fields')
  await node.ok({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1', sparse: true }] })
  t.equal(await n({ hint: 'b_1' }), 0, 'a hinted sparse index has no keys of these documents')
  t.equal((await node.ok({ count: 'missing' }))['n'], 0)
  t.equal(shape(await node.raw({ count: 'c' })), 'n:int ok:double')
})

t.test('count refuses invalid arguments', async (t) => {
  const node = await filled([{ a: 1 }])
  t.match(await node.run({ count: 'c', skip: -1 }), { code: 9 })
  t.match(await node.run({ count: 'c', limit: 'x' }), { code: 2 })
  t.match(await node.run({ count: 'c', limit: Long.MIN_VALUE }), { code: 2 })
  t.match(await node.run({ count: 'c', hint: 'nope' }), { code: 2 })
  t.match(await node.run({ count: 'c', hint: 5 }), { code: 9 })
  t.match(await node.run({ count: 'c', query: { $nope: 1 } }), { code: 2 })
  t.match(
    await node.run({ count: 'missing', query: { $nope: 1 } }),
    { code: 2 },
    'also where there is nothing to count',
  )
})

t.test('count without a query and distinct include orphans, count with a query does not', async (t) => {
  const pattern = ShardKeyPattern.parse(new Uint8Array(Buffer.from('0c0000001061000100000000', 'hex')), {
    compoundHashed: true,
  })
  t.equal(decode(pattern.document)['a'], 1)
  // The shard owns only keys from 3 on.
  const ownership = {
    placement: { shardKey: pattern },
    shard: 'shard01',
    owns: (document: Uint8Array) => (decode(document)['a'] as number) >= 3,
  } as unknown as OwnershipFilter
  const node = new NodeUnderTest({
    role: {
      name: 'shard',
      setName: 'shard01',
      memberName: 'shard01',
      rows: [],
      enter: () => ({ ownership }),
      checkReplacement() {},
      checkImplicitCreate() {},
    },
  })
  await node.ok({ insert: 'c', documents: [1, 2, 3, 4].map((a) => ({ a })) })
  t.equal((await node.ok({ count: 'c' }))['n'], 4)
  t.equal((await node.ok({ count: 'c', query: { a: { $gt: 0 } } }))['n'], 2)
  t.same((await node.ok({ distinct: 'c', key: 'a' }))['values'], [1, 2, 3, 4])
  const found = (await node.ok({ find: 'c' }))['cursor'] as { firstBatch: Document[] }
  t.same(
    found.firstBatch.map((document) => document['a']),
    [3, 4],
  )
})
