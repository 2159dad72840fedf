import { decode, documentValue, encode, hashedKeyValue, toRawValue, type Document } from '@shardlab/bson'
import t from 'tap'
import { targetFilter, targetSoleEquality, type CollectionPlacement } from '../src/index.js'
import { filterOf, long, max, min, placementOf } from './support/placements.js'
import { collated, shardsOf, xyz } from './support/targeting.js'

t.test('key {a: 1}, split at x, y, z: the worked cases of the server', async (t) => {
  const cases: [Document, string][] = [
    [{}, '0,1,2,3'],
    [{ b: 1 }, '0,1,2,3'],
    [{ a: 'y' }, '2'],
    [{ a: { $eq: 'y' } }, '2'],
    [{ a: 'y', b: { $gt: 3 } }, '2'],
    [{ $and: [{ a: 'y' }, { b: 1 }] }, '2'],
    [{ a: { $in: ['y'] } }, '2'],
    [{ a: { $in: ['u', 'y'] } }, '0,2'],
    [{ a: { $gt: 'x' } }, '1,2,3'],
    [{ a: { $gte: 'x' } }, '1,2,3'],
    [{ a: { $lt: 'y' } }, '0,1,2'],
    [{ a: { $lte: 'y' } }, '0,1,2'],
    [{ $or: [{ a: 'u' }, { a: 'y' }] }, '0,2'],
    [{ $or: [{ a: 'u' }, { a: { $gte: 'y' } }] }, '0,2,3'],
    [{ $or: [{ a: 'u' }, { a: { $gte: 'zz' } }, {}] }, '0,1,2,3'],
    [{ $or: [{ a: 'u' }, { b: 1 }] }, '0,1,2,3'],
    [{ a: { $gt: 'x', $lt: 'x' } }, '0'],
    [{ a: 'x', $and: [{ a: 'z' }] }, '0'],
    [{ $or: [{ a: 'x' }, { a: { $gt: 'u', $lt: 'u' } }, { a: { $gte: 'y' } }] }, '1,2,3'],
    [{ $or: [{ a: { $gt: 'u', $lt: 'u' } }, { a: { $gt: 'x', $lt: 'x' } }] }, '0'],
    [{ a: { $not: { $gt: 'x' } } }, '0,1,3'],
    [{ a: { $ne: 'x' } }, '0,1,2,3'],
    [{ $nor: [{ a: 'x' }] }, '0,1,2,3'],
    [{ a: { $exists: true } }, '0,1,2,3'],
    [{ a: { $exists: false } }, '0'],
    [{ a: null }, '0'],
    [{ a: { $ne: null } }, '0,1,2,3'],
    [{ a: /^y/ }, '2,3'],
    [{ a: { $gt: 'x', $lt: 'xx' } }, '1'],
  ]
  for (const [filter, shards] of cases) t.equal(shardsOf(xyz, filter), shards, JSON.stringify(filter))
})

t.test('a regular expression with a prefix targets its strings and the expression as a value', async (t) => {
  t.equal(shardsOf(placementOf({ a: 1 }, [{ a: 'x' }, { a: 'y' }, { a: 'z' }, { a: { q: 1 } }]), { a: /^xa/ }), '1,4')
})

t.test('the kind of targeting follows from the bounds', async (t) => {
  const key = targetFilter(xyz, filterOf({ a: 'y' }))
  t.equal(key.kind, 'targeted')
  t.equal(key.chunks, 1)
  t.equal(key.exactKey, xyz.shardKey.keyFromValues(new Map([['a', toRawValue('y')]]))!.keyString)
  t.same(
    key.bounds.map((pair) => pair.map((bound) => decode(bound))),
    [[{ a: 'y' }, { a: 'y' }]],
  )
  const two = targetFilter(xyz, filterOf({ a: { $in: ['u', 'y'] } }))
  t.equal(two.kind, 'multi')
  t.equal(two.chunks, 2)
  t.equal(two.exactKey, null)
  t.same(
    two.bounds.map((pair) => pair.map((bound) => decode(bound))),
    [
      [{ a: 'u' }, { a: 'u' }],
      [{ a: 'y' }, { a: 'y' }],
    ],
  )
  const all = targetFilter(xyz, filterOf({}))
  t.equal(all.kind, 'broadcast')
  t.equal(all.chunks, 4)
  t.same(
    all.bounds.map((pair) => pair.map((bound) => decode(bound))),
    [[{ a: min }, { a: max }]],
  )
  const none = targetFilter(xyz, filterOf({ a: { $gt: 'x', $lt: 'x' } }))
  t.equal(none.kind, 'targeted')
  t.same(none.bounds, [])
  const one = targetFilter(xyz, filterOf({ a: { $gt: 'xa', $lt: 'xb' } }))
  t.equal(one.kind, 'targeted', 'a range inside one chunk')
  t.equal(one.exactKey, null)
  t.equal(targetFilter(xyz, filterOf({ a: { $in: ['xa', 'xb', 'xc'] } })).chunks, 1, 'three values in one chunk')
  t.equal(targetFilter(placementOf({ a: 1 }, []), filterOf({})).kind, 'broadcast')
})

t.test('equality with null is exact', async (t) => {
  const key = targetFilter(xyz, filterOf({ a: null }))
  t.not(key.exactKey, null)
  t.equal(key.exactKey, xyz.shardKey.keyFromValues(new Map([['a', toRawValue(null)]]))!.keyString)
})

t.test('compound keys expand the first field that is not a point', async (t) => {
  const ab = placementOf({ a: 1, b: 1 }, [
    { a: 5, b: 10 },
    { a: 5, b: 20 },
  ])
  t.equal(
    shardsOf(ab, { a: { $in: [0, 5, 10] }, b: { $in: [0, 5, 25] } }),
    '0,1,2',
    'after an $in, later fields only widen',
  )
  t.equal(shardsOf(ab, { a: 5, b: { $in: [0, 5, 25] } }), '0,2', 'after a point they expand')
  t.equal(shardsOf(ab, { a: 5, b: 15 }), '1')
  t.equal(shardsOf(ab, { a: 5, b: { $gt: 5, $lt: 8 } }), '0')
  t.equal(shardsOf(ab, { a: 5, b: { $gt: 5, $lt: 10 } }), '0,1', 'upper ends are included')
  t.equal(shardsOf(ab, { a: 4 }), '0', 'a prefix of the key')
  t.equal(shardsOf(ab, { a: 5 }), '0,1,2')
  t.equal(shardsOf(ab, { b: 15 }), '0,1,2', 'not a prefix of the key')
  t.equal(targetFilter(ab, filterOf({ b: 15 })).kind, 'broadcast')
  t.equal(shardsOf(ab, { a: { $gt: 4, $lt: 5 }, b: 0 }), '0')
  t.equal(
    shardsOf(ab, {
      $or: [
        { a: 4, b: 100 },
        { a: 6, b: 0 },
      ],
    }),
    '0,2',
  )
  const flat = placementOf({ a: 1, b: 1 }, [
    { a: 5, b: 10 },
    { a: 5, b: 20 },
    { a: 6, b: 10 },
  ])
  t.equal(
    shardsOf(flat, {
      $or: [
        { a: 5, b: 5 },
        { a: 6, b: 15 },
      ],
    }),
    '0,1,2,3',
    'an $or is the union of its branches, field by field',
  )
})

t.test('a range whose ends are chunk bounds includes the chunk at its upper end', async (t) => {
  const numbers = placementOf({ a: 1 }, [{ a: -100 }, { a: 0 }, { a: 100 }])
  t.equal(shardsOf(numbers, { a: { $gte: -100, $lte: 0 } }), '1,2')
  t.equal(shardsOf(numbers, { a: 5 }, collated), '2', 'collations do not affect numbers')
})

t.test('under a collation, predicates on strings target nothing', async (t) => {
  t.equal(shardsOf(xyz, { a: 'y' }, collated), '0,1,2,3')
  t.equal(shardsOf(xyz, { a: { $in: ['y'] } }, collated), '0,1,2,3')
  t.equal(shardsOf(xyz, { a: { x: 1 } }, collated), '0,1,2,3')
  t.equal(shardsOf(xyz, { a: 'y' }), '2')
  t.equal(shardsOf(xyz, { a: null }, collated), '0')
  t.equal(
    shardsOf(placementOf({ a: 1, b: 1 }, [{ a: 5, b: 'm' }]), { a: 4, b: 'z' }, collated),
    '0',
    'the other fields still restrict',
  )
})

t.test('hashed keys are targeted only by equalities', async (t) => {
  const hash = (value: unknown) => hashedKeyValue(toRawValue(value)).asBigInt()
  const ascending = [1, 2, 3, 'abc', null].sort((a, b) => (hash(a) < hash(b) ? -1 : 1))
  const placement = placementOf(
    { a: 'hashed' },
    ascending.map((value) => ({ a: long(hash(value)) })),
  )
  ascending.forEach((value, i) => t.equal(shardsOf(placement, { a: value }), String(i + 1), `hash of ${value}`))
  t.equal(
    shardsOf(placement, { a: { $in: [1, 'abc'] } }),
    [1, 'abc']
      .map((value) => ascending.indexOf(value) + 1)
      .sort()
      .join(),
  )
  t.equal(
    shardsOf(placement, { $or: [{ a: 1 }, { a: 2 }] }),
    [1, 2]
      .map((value) => ascending.indexOf(value) + 1)
      .sort()
      .join(),
  )
  t.equal(shardsOf(placement, { a: 1.9 }), String(ascending.indexOf(1) + 1), 'fractions are truncated before hashing')
  for (const filter of [
    { a: { $gt: 1 } },
    { a: { $gt: 1, $lt: 2 } },
    { a: { $ne: 1 } },
    { a: { $exists: true } },
    { a: /^a/ },
  ]) {
    t.equal(shardsOf(placement, filter), '0,1,2,3,4,5', JSON.stringify(filter))
  }
  t.equal(shardsOf(placement, { $and: [{ a: 1 }, { a: 2 }] }), '0', 'a contradiction')
  const compound = placementOf({ x: 1, a: 'hashed' }, [
    { x: 5, a: min },
    { x: 5, a: long(0) },
    { x: 6, a: min },
  ])
  t.equal(shardsOf(compound, { x: 5 }), '1,2')
  t.equal(shardsOf(compound, { x: 5, a: 1 }), hash(1) < 0n ? '1' : '2')
  t.equal(shardsOf(compound, { x: 5, a: -1 }), hash(-1) < 0n ? '1' : '2')
  t.equal(shardsOf(compound, { a: 1 }), '0,1,2,3')
})

t.test('a key inside a document is targeted by its path and by equality with the document', async (t) => {
  const nested = placementOf({ 'a.b': 1 }, [{ 'a.b': 10 }, { 'a.b': 20 }])
  t.equal(shardsOf(nested, { 'a.b': 15 }), '1')
  t.equal(shardsOf(nested, { a: { b: 15 } }), '1')
  t.equal(shardsOf(nested, { a: { b: 15, c: 1 } }), '1')
  t.equal(shardsOf(nested, { 'a.b': { $gt: 20 } }), '2')
  t.equal(shardsOf(nested, { a: { $gt: { b: 15 } } }), '0,1,2')
})

t.test('shards without chunks are not targeted', async (t) => {
  const placement = placementOf({ a: 1 }, [{ a: 0 }], ['s1', 's1'])
  t.equal(shardsOf(placement, {}), '1')
  t.equal(targetFilter(placement, filterOf({})).chunks, 2)
})

t.test('a contradiction on a later field targets one shard unless the first field is unbounded', async (t) => {
  const ab = placementOf({ a: 1, b: 1 }, [{ a: 'x', b: min }])
  t.equal(shardsOf(ab, { a: 1, b: { $gt: 4, $lt: 4 } }), '0', 'EqualityThenUnsatisfiable')
  t.equal(shardsOf(ab, { a: { $gt: 1 }, b: { $gt: 4, $lt: 4 } }), '0', 'InequalityThenUnsatisfiable')
  t.equal(
    shardsOf(ab, { b: { $gt: 4, $lt: 4 } }),
    '0,1',
    'the planner uses no index without a predicate on its first field',
  )
  t.equal(targetFilter(ab, filterOf({ b: { $gt: 4, $lt: 4 } })).kind, 'broadcast')
})

t.test('the collations of a collection and of an operation affect targeting', async (t) => {
  const numbers = placementOf({ a: 1 }, [{ a: 'x' }])
  for (const filter of [{ a: 5 }, { a: { $in: [5, 6] } }, { a: { $lt: 6 } }])
    t.equal(shardsOf(numbers, filter, collated), '0', `${JSON.stringify(filter)}: numbers are not affected`)
  t.equal(shardsOf(numbers, { a: { $in: [5, 'z'] } }, collated), '0,1', 'one string is enough')
})

t.test('a hashed _id is targeted by equality', async (t) => {
  const byId = placementOf({ _id: 'hashed' }, [{ _id: long(0) }])
  const place = hashedKeyValue(toRawValue(7)).asBigInt() < 0n ? '0' : '1'
  t.equal(shardsOf(byId, { _id: 7 }), place)
  t.equal(shardsOf(byId, { _id: { $in: [7] }, other: { $gt: 1 } }), place)
  t.not(targetFilter(byId, filterOf({ _id: 7 })).exactKey, null)
  t.equal(shardsOf(byId, { _id: { $gte: 7, $lte: 7 } }), '0,1', 'a range, even of one value')
})

t.test('targetSoleEquality targets a sole equality on the only key field as targetFilter does', async (t) => {
  const ranged = placementOf({ a: 1 }, [{ a: long(0) }, { a: 'm' }, { a: true }])
  const hashed = placementOf({ a: 'hashed' }, [{ a: long(-(2n ** 61n)) }, { a: long(0) }, { a: long(2n ** 61n) }])
  const byBytes = (placement: CollectionPlacement, filter: Document, options = {}) =>
    targetSoleEquality(placement, documentValue(encode(filter)), options)
  for (const placement of [ranged, hashed]) {
    for (const value of [-5, 0, 7, 1.5, long(9), 'a', 'z', true, false, new Date(5)]) {
      const { bounds, ...wanted } = targetFilter(placement, filterOf({ a: value }))
      const found = byBytes(placement, { a: value })!
      t.same(
        { shards: found.shards, kind: found.kind, chunks: found.chunks, exactKey: found.exactKey },
        {
          shards: wanted.shards,
          kind: wanted.kind,
          chunks: wanted.chunks,
          exactKey: wanted.exactKey,
        },
      )
      t.same(found.bounds, bounds)
    }
    for (const filter of [
      {},
      { b: 1 },
      { a: 1, b: 1 },
      { a: { $gt: 1 } },
      { a: null },
      { a: [1] },
      { a: { b: 1 } },
      { a: /x/ },
    ])
      t.equal(byBytes(placement, filter), null, JSON.stringify(filter))
    t.equal(byBytes(placement, { a: 'x' }, collated), null, 'under a collation strings are on any shard')
    t.same(byBytes(placement, { a: 5 }, collated)!.shards, byBytes(placement, { a: 5 })!.shards)
  }
  t.equal(byBytes(placementOf({ a: 1, b: 1 }, [{ a: 0, b: 0 }]), { a: 1 }), null)
})
